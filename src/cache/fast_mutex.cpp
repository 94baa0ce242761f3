// SPDX-License-Identifier: Apache-2.0
#include "cache/fast_mutex.h"

namespace ebb::cache {
namespace {

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void FastMutex::lock_contended() {
  // A hit holds the lock for less than this; whoever holds it longer is in a driver call.
  constexpr int kSpins = 200;
  for (int spin = 0; spin < kSpins; ++spin) {
    std::uint32_t expected = kFree;
    if (state_.load(std::memory_order_relaxed) == kFree &&
        state_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return;
    }
    pause_processor();
  }
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
    state_.wait(kAwaited, std::memory_order_relaxed);
  }
}

}  // namespace ebb::cache
