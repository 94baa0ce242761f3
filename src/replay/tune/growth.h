// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/replayer.h"

namespace ebb::replay {

/// How what is reserved goes on to rise from step to step.
struct Growth {
  std::uint64_t steps = 0;  ///< that were tried
  /// The step with the last new peak, where as many steps again brought no other.
  std::optional<std::uint64_t> stops_after_steps;
  /// Where there always was another: by how much a step, over the later half of them.
  double bytes_per_step = 0;
  double live_bytes_per_step = 0;  ///< likewise, of what is live
};

/// "stands still after 12 steps", or by how much it grows, and whether that is what is live.
std::string text_of(const Growth& growth);
/// stops_after_steps; or bytes_per_step, live_bytes_per_step and steps.
base::Json to_json(const Growth& growth);

/// Whether the last new peak came in the first half of the steps.
bool stands_still(const std::vector<StepEnd>& steps);

/// What these steps show of it. The first is everything before the steps.
Growth growth_in(const std::vector<StepEnd>& steps);

/// A future is as long as so many recordings, and longer where memory still rises then.
inline constexpr std::uint64_t kUsualLength = 4;
inline constexpr std::uint64_t kMostLength = 32;

}  // namespace ebb::replay
