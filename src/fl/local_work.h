// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "fl/config.h"

namespace ebb::fl {

/// What a client with so many samples does in a round. Passes begin with a new order each; a batch
/// does not reach from one pass into the next, so the last one of a pass may be smaller.
struct LocalWork {
  std::uint32_t passes = 1;  ///< over its samples, the last one perhaps not to its end
  std::uint64_t steps = 0;   ///< batches
  /// Samples, those of each pass counted again; of scaffold also those of the gradient at the model
  /// that came.
  std::uint64_t visited = 0;
};

/// `epochs` passes, or as many as `local_steps` take. Requires: check(config) is fine.
LocalWork local_work(const Config& config, std::size_t samples);

/// The learning rate of clients in `round`: `lr`, as its schedule has it by then. While it warms
/// up, the k-th of n rounds has k/(n + 1) of `lr`; the schedule begins after that. Cosine stays at
/// its end once it is there.
double learning_rate(const Config& config, std::uint32_t round);

}  // namespace ebb::fl
