// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace ebb::cache {

/// A mutex for critical sections of tens of nanoseconds that now and then contain a driver call:
/// one atomic instruction to take and one to release it, a short spin, then sleep in the kernel.
/// Not fair, not recursive.
class EBB_CAPABILITY("mutex") FastMutex {
 public:
  void lock() EBB_ACQUIRE() {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]] {
      lock_contended();
    }
  }
  void unlock() EBB_RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]] {
      state_.notify_one();
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kAwaited = 2;  ///< held, and somebody may sleep

  void lock_contended();

  std::atomic<std::uint32_t> state_{kFree};
};

/// Holds a FastMutex for a scope.
class EBB_SCOPED_CAPABILITY FastLock {
 public:
  explicit FastLock(FastMutex& mutex) EBB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~FastLock() EBB_RELEASE() { mutex_.unlock(); }
  FastLock(const FastLock&) = delete;
  FastLock& operator=(const FastLock&) = delete;

 private:
  FastMutex& mutex_;
};

}  // namespace ebb::cache
