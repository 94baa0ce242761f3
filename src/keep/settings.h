// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "keep/role.h"
#include "keep/round_keeper.h"

namespace ebb::keep {

/// What the environment asks of a process, each where it says something.
struct Wishes {
  std::optional<RoundSchedule> rounds;  ///< "auto" or a number
  std::optional<bool> cuda_empty_cache;
  std::optional<bool> memory_profile;
};

/// What the environment asks of Ebb in this process.
struct Settings {
  bool disabled = false;     ///< EBB_DISABLE
  std::optional<Role> role;  ///< EBB_ROLE
  /// EBB_MEMORY_GC_ROUNDS, EBB_CUDA_EMPTY_CACHE, EBB_MEMORY_PROFILE
  Wishes all;
  /// EBB_SERVER_MEMORY_GC_ROUNDS, of servers and aggregators
  Wishes servers;
  /// NVFLARE_CLIENT_MEMORY_GC_ROUNDS, NVFLARE_CUDA_EMPTY_CACHE, NVFLARE_CLIENT_MEMORY_PROFILE, of
  /// clients and trainers
  Wishes clients;

  /// What this process is where nobody says it: EBB_ROLE, else a trainer.
  Role own_role() const { return role.value_or(Role::trainer); }

  /// What is asked of a role. Ebb's own names win over NVFlare's, the servers' own over those for
  /// all.
  Wishes of(Role whose) const;
};

/// Looks up a variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The process's own environment.
std::optional<std::string> process_environment(const char* name);

/// Whether EBB_DISABLE keeps Ebb from doing anything: 1, true and yes do; 0, false, no, the empty
/// string and no such variable do not. Code::bad_input for any other value.
base::Result<bool> is_disabled(const Environment& environment = process_environment);

/// Code::bad_input names the variable, its value and what was expected.
base::Result<Settings> settings_from(const Environment& environment);

/// The schedule for a role: what the environment says, else the role's defaults.
RoundSchedule schedule_for(Role role, const Settings& settings);

/// Whether RSS markers are asked of a role.
bool wants_memory_profile(Role role, const Settings& settings);

}  // namespace ebb::keep
