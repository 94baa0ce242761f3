// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "replay/lifetimes.h"

namespace ebb::replay {

/// A place for every block in one range of memory, such that no two blocks in use at the same time
/// overlap: what an allocator that knew the future could do.
struct Packing {
  std::uint64_t height = 0;            ///< bytes of the range
  std::vector<std::uint64_t> offsets;  ///< of the lifetimes, in their order
};

/// The better of two simple orders (long lives first, large blocks first), each block at the lowest
/// place that is free for all its life. Stops when it reaches `bound`. Takes no more than a few
/// seconds: where a history is too long for the second order, the first one's result stands.
Packing pack(const std::vector<Lifetime>& lifetimes, std::uint64_t bound);

}  // namespace ebb::replay
