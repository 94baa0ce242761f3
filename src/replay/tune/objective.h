// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "replay/forecast.h"

namespace ebb::replay {

/// What is best.
enum class Objective : std::uint8_t {
  memory,    ///< least reserved, then fewest settings, then least time in driver calls
  calls,     ///< least time in driver calls, then fewest settings, then least reserved
  balanced,  ///< a share of the job's time in driver calls weighs as much as that share of memory
};
base::Result<Objective> parse_objective(std::string_view name);

/// What a run costs by this objective. `share`: of the job's time in driver calls.
double cost_of(Objective objective, std::uint64_t peak_reserved, double call_seconds, double share);

}  // namespace ebb::replay
