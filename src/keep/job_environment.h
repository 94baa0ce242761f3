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
#include "keep/settings.h"

namespace ebb::keep {

/// What becomes of a variable that is already set.
enum class Placement : std::uint8_t {
  if_unset,  ///< it stays as it is
  front,     ///< the value goes in front of it, with a colon between them (GLIBC_TUNABLES)
  back,      ///< the value goes behind it likewise: the user's come first (LD_PRELOAD)
};

/// One variable that a job should start with, and why.
struct EnvironmentVariable {
  std::string name;
  std::string value;
  std::string why;
  Placement place = Placement::if_unset;
};

/// How the variables are to be written.
enum class ShellSyntax : std::uint8_t {
  sh,
  fish,
  docker,
  script,  ///< a program that sets them where it runs: keep/start_script.h
};

/// What makes jemalloc give memory back by itself, for MALLOC_CONF.
inline constexpr const char* kJemallocSettings =
    "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";

/// Code::bad_input names the forms there are.
base::Result<ShellSyntax> shell_syntax_from(std::string_view name);

/// The recommended environment of a job in `role`. `allocator`: nothing keeps glibc, with `arenas`
/// or as many as suit the role; an installed one is preloaded with the settings that make it give
/// memory back.
std::vector<EnvironmentVariable> job_environment(
    Role role, const std::optional<heap::InstalledAllocator>& allocator,
    std::optional<int> arenas = std::nullopt);

/// The same by the allocator's name: "glibc" keeps it, another one is looked up on this machine.
/// Code::bad_input for a name that is none and for arenas of another than glibc, Code::unavailable
/// with the package's name where it is not installed.
base::Result<std::vector<EnvironmentVariable>> job_environment_for(
    Role role, std::string_view allocator, std::optional<int> arenas = std::nullopt);

/// Whether a job is to start on jemalloc where nobody names an allocator:
/// NVFLARE_ENABLE_JEMALLOC_PRELOAD is "true", that word and no other, as in NVFlare.
bool wants_jemalloc(const Environment& environment = process_environment);

/// The allocator of a job for which nobody names one.
struct DefaultAllocator {
  std::string name;
  std::string note;  ///< where jemalloc is wanted and not installed: one line that says how
};

/// `otherwise`, or jemalloc where it is wanted and installed on this machine. `root` is in front of
/// every path, for tests.
DefaultAllocator default_allocator(const std::string& otherwise,
                                   const Environment& environment = process_environment,
                                   const std::string& root = "");

/// The same where `asked` may name one, and where `arenas` are wanted, which only glibc has.
DefaultAllocator chosen_allocator(const std::string& asked, std::optional<int> arenas);

/// A list of them.
base::Json to_json(const std::vector<EnvironmentVariable>& variables);

/// The variables as text: export lines for sh and fish, ENV lines for a Dockerfile, each with its
/// reason as a comment. Values are quoted so that a shell reads exactly them, and the lines
/// themselves see what is already set. Requires: no script.
std::string environment_text(const std::vector<EnvironmentVariable>& variables, ShellSyntax syntax);

}  // namespace ebb::keep
