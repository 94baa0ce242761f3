// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "trace/memory_budget.h"
#include "trace/pickle_value.h"

namespace ebb::trace {

/// The stack of the machine that reads a snapshot: a vector whose push is one comparison and one
/// store. Not thread-safe.
class ValueStack {
 public:
  explicit ValueStack(MemoryBudget& budget) : budget_(budget) {}

  std::size_t size() const { return static_cast<std::size_t>(top_ - values_.get()); }
  Value& operator[](std::size_t index) { return values_[index]; }
  Value& back() { return top_[-1]; }

  void push(const Value& value) {
    if (top_ == limit_) grow();
    *top_++ = value;
  }
  /// Forgets what lies above the first `size` values.
  void cut(std::size_t size) { top_ = values_.get() + size; }

 private:
  void grow();

  MemoryBudget& budget_;
  std::unique_ptr<Value[]> values_;
  Value* top_ = nullptr;
  Value* limit_ = nullptr;
};

}  // namespace ebb::trace
