// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "heap/allocator_kind.h"
#include "keep/job_environment.h"
#include "keep/settings.h"
#include "sense/roots.h"

namespace ebb::keep {

/// What the environment of a process leaves out of what is recommended for its allocator and role:
/// a limit of arenas, decay, how often to clean up.
struct EnvironmentCheck {
  Role role = Role::trainer;
  bool role_is_told = false;  ///< by EBB_ROLE
  heap::AllocatorKind allocator = heap::AllocatorKind::unknown;
  std::vector<EnvironmentVariable> missing;
  std::string trouble;  ///< why it could not be read, or a variable that cannot be used; else empty
};

EnvironmentCheck check_environment(const Environment& environment, heap::AllocatorKind allocator);

/// Of a running process, where that may be read.
EnvironmentCheck check_environment_of(pid_t pid, heap::AllocatorKind allocator,
                                      const sense::Roots& roots = {});

/// The keys are documented in docs/watch.md.
base::Json to_json(const EnvironmentCheck& check);

}  // namespace ebb::keep
