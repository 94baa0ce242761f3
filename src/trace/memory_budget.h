// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/pickle_reader.h"

namespace ebb::trace {

/// Thrown by a MemoryBudget and caught where reading began: too many places grow to pass it up.
struct OverBudget {};

/// Counts the memory that reading a file takes against what the file may cost: the bytes read so
/// far and a fixed allowance. Not thread-safe.
class MemoryBudget {
 public:
  MemoryBudget(const PickleReader& reader, std::uint64_t allowance)
      : reader_(reader), allowance_(allowance) {}

  /// Before the memory is taken. Throws OverBudget where the file may not cost that much.
  void charge(std::uint64_t bytes) {
    used_ += bytes;
    if (used_ > reader_.consumed() + allowance_) throw OverBudget{};
  }
  void release(std::uint64_t bytes) { used_ -= bytes; }

  /// Room for one more element; growing costs the old room too.
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
  const PickleReader& reader_;
  std::uint64_t allowance_;
  std::uint64_t used_ = 0;
};

}  // namespace ebb::trace
