// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fact/site.h"
#include "replay/lifetimes.h"
#include "replay/workload.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Numbers the places in a program that allocate: stacks that are the same to somebody who looks
/// for a line of Python have the same number. The first numbers are no places (kPlaces on are).
/// Where a stack has Python, PyTorch's and the interpreter's own native calls are left out of it.
/// The snapshot and the workload outlive it. For one thread.
class SiteNumbers {
 public:
  static constexpr std::uint32_t kNoStack = 0;        ///< recorded without one
  static constexpr std::uint32_t kBeforeHistory = 1;  ///< allocated before it, and no stack is left
  static constexpr std::uint32_t kPlaces = 2;

  SiteNumbers(const trace::Snapshot& snapshot, int device, const Workload& workload);

  std::uint32_t number_of(const Lifetime& life);

  /// Of all numbers so far, those that are no places included.
  std::size_t size() const { return kPlaces + keys_.size(); }

  /// The calls of a place, innermost first: at most a hundred, of names of bounded length.
  fact::SiteStack calls_of(std::uint32_t number) const;

 private:
  using Key = std::vector<trace::Index>;

  Key key_of(trace::Index stack) const;
  bool is_python(trace::Index frame) const;
  bool is_glue(trace::Index frame) const;
  fact::SiteFrame frame_of(trace::Index frame) const;

  const trace::Snapshot& snapshot_;
  const int device_;
  const Workload& workload_;
  const bool has_history_;
  std::vector<std::uint32_t> by_stack_;  ///< 0 where the stack was not asked for so far
  std::map<Key, std::uint32_t> by_key_;
  std::vector<const Key*> keys_;  ///< of the places, in by_key_
};

}  // namespace ebb::replay
