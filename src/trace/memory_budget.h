// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ebb::trace {

/// Counts the memory that reading a file takes against what the file may cost: the bytes read so
/// far and a fixed allowance. Not thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t allowance) : allowance_(allowance) {}

  void charge(std::uint64_t bytes) { used_ += bytes; }
  void release(std::uint64_t bytes) { used_ -= bytes; }
  std::uint64_t used() const { return used_; }

  /// Whether a file may cost this much when `read` bytes of it have been read.
  bool allows(std::uint64_t read) const { return used_ <= read + allowance_; }

  /// Room for one more element, charged before it is taken; growing costs the old room too.
  template <class T>
  void make_room(std::vector<T>& items) {
    const std::size_t before = items.capacity();
    if (items.size() < before) return;
    const std::size_t after = before < 16 ? 16 : before + before / 2;
    charge(after * sizeof(T));
    items.reserve(after);
    release(before * sizeof(T));
  }

 private:
  std::uint64_t allowance_;
  std::uint64_t used_ = 0;
};

}  // namespace ebb::trace
