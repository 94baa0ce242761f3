// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

// The tests of `base` have an operator new of their own, which can be told to fail. The build for
// the thread sanitizer has another one, and no tests that use this.

namespace ebb::base {

/// So many allocations succeed, and none after them, until this is gone.
class LimitedMemory {
 public:
  explicit LimitedMemory(long allocations);
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;
  ~LimitedMemory();
};

/// Does it with memory for no allocation, for one, for two, until it throws no more. How often it
/// threw.
template <class Act>
long times_without_memory(Act&& act) {
  for (long times = 0;; ++times) {
    try {
      const LimitedMemory memory(times);
      act();
      return times;
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace ebb::base
