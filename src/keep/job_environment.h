// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "heap/installed.h"
#include "keep/role.h"

namespace ebb::keep {

/// One variable that a job should start with, and why.
struct EnvironmentVariable {
  std::string name;
  std::string value;
  std::string why;
  bool prepend = false;  ///< goes in front of what is already there, behind a colon (LD_PRELOAD)
};

/// How the variables are to be written.
enum class ShellSyntax : std::uint8_t { sh, fish, docker };

/// Code::bad_input names the forms there are.
base::Result<ShellSyntax> shell_syntax_from(std::string_view name);

/// The recommended environment of a job in `role`. `allocator`: nothing keeps glibc; an installed
/// one is preloaded with the settings that make it give memory back.
std::vector<EnvironmentVariable> job_environment(
    Role role, const std::optional<heap::InstalledAllocator>& allocator);

/// The same by the allocator's name: "glibc" keeps it, another one is looked up on this machine.
/// Code::bad_input for a name that is none, Code::unavailable with the package's name where it is
/// not installed.
base::Result<std::vector<EnvironmentVariable>> job_environment_for(Role role,
                                                                   std::string_view allocator);

base::Json to_json(const EnvironmentVariable& variable);

/// The variables as text: export lines for sh and fish, ENV lines for a Dockerfile, each with its
/// reason as a comment. Values are quoted so that a shell reads exactly them.
std::string environment_text(const std::vector<EnvironmentVariable>& variables, ShellSyntax syntax);

}  // namespace ebb::keep
