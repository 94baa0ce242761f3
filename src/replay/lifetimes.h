// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "replay/workload.h"

namespace ebb::replay {

/// When a block was in use: from operation `first` on, and until before `last`.
struct Lifetime {
  std::uint64_t bytes = 0;  ///< a multiple of 512, as every PyTorch rounds at least
  std::uint32_t block = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;      ///< when its memory may be used again
  std::uint32_t released = 0;  ///< when the job gave it back: earlier, if other streams used it
  std::uint16_t stream = 0;
  std::uint16_t pool = 0;
  bool failed = false;  ///< a request that found no memory; alive for one operation
};

/// Every block of the job in order of allocation, and its failed requests after them.
std::vector<Lifetime> lifetimes_of(const Workload& workload);

/// What no allocator can go below.
struct LowerBound {
  std::uint64_t live = 0;            ///< most bytes in use at once, rounded to 512
  std::uint32_t operation = 0;       ///< the first operation at which it was
  std::uint64_t without_failed = 0;  ///< the same for requests that were served
  /// Most bytes in use where each pool and stream holds whole units of 2 MiB, as PyTorch's
  /// allocator does under any settings.
  std::uint64_t in_units = 0;
};
LowerBound lower_bound_of(const Workload& workload);

/// Blocks in use just after operation `operation`, in order of allocation.
std::vector<Lifetime> live_at(const std::vector<Lifetime>& lifetimes, std::uint32_t operation);

}  // namespace ebb::replay
