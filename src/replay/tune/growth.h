// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/replayer.h"
#include "replay/tune/futures.h"

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

/// A job as it goes on.
struct Continuation {
  Future future;
  Outcome outcome;  ///< of that future, with the ends of its steps
  Growth growth;
};

/// Follows future `number` for as long as it takes to tell whether memory stands still: four times
/// the recorded operations, then twice as far each time, at the most 32 times and within
/// `most_operations`. No limit holds; other than that, `setup` does.
Continuation follow(const FutureMaker& maker, std::uint64_t number,
                    std::uint64_t recorded_operations, Setup setup, std::uint64_t most_operations);

/// A future is as long as so many recordings, and longer where memory still rises then.
inline constexpr std::uint64_t kUsualLength = 4;
inline constexpr std::uint64_t kMostLength = 32;

}  // namespace ebb::replay
