// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cache/rounding.h"
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

/// What requests need at least: their bytes in multiples of 512, and 0 where they are absurd. A
/// request that failed was recorded as its allocator rounded it: the least that is rounded so.
class Needs {
 public:
  explicit Needs(const Workload& workload);
  std::uint64_t operator()(const Operation& operation) const;

 private:
  cache::Rounding recorded_;
};

/// Every block of the job in order of allocation, and its failed requests after them.
std::vector<Lifetime> lifetimes_of(const Workload& workload);

/// What no allocator can go below.
struct LowerBound {
  std::uint64_t live = 0;       ///< most bytes needed at once
  std::uint32_t operation = 0;  ///< the first operation at which it was
  /// Most bytes in use where each pool and stream holds whole units of 2 MiB, as PyTorch's
  /// allocator does under any settings.
  std::uint64_t in_units = 0;
};
LowerBound lower_bound_of(const Workload& workload);

/// Blocks in use just after operation `operation`, in order of allocation.
std::vector<Lifetime> live_at(const std::vector<Lifetime>& lifetimes, std::uint32_t operation);

}  // namespace ebb::replay
