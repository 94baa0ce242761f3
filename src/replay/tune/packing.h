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

/// The best of several orders, each block at the lowest place that is free for all its life: long
/// lives first, large blocks first, and then again and again with the block that stuck out placed
/// earlier. Stops when it reaches `bound`, or after about a second's work; deterministic.
Packing pack(const std::vector<Lifetime>& lifetimes, std::uint64_t bound);

}  // namespace ebb::replay
