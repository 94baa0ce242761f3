// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "keep/role.h"
#include "keep/round_keeper.h"

namespace ebb::keep {

/// What the environment asks of Ebb in this process. Ebb's own names win over NVFlare's.
struct Settings {
  bool disabled = false;                 ///< EBB_DISABLE
  std::optional<Role> role;              ///< EBB_ROLE
  std::optional<RoundSchedule> rounds;   ///< EBB_MEMORY_GC_ROUNDS (a number or "auto"),
                                         ///< NVFLARE_CLIENT_MEMORY_GC_ROUNDS
  std::optional<bool> cuda_empty_cache;  ///< EBB_CUDA_EMPTY_CACHE, NVFLARE_CUDA_EMPTY_CACHE
  bool memory_profile = false;           ///< EBB_MEMORY_PROFILE, NVFLARE_CLIENT_MEMORY_PROFILE
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

}  // namespace ebb::keep
