// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <time.h>

#include <cmath>

#include "base/check.h"

// Since glibc 2.30: null where an older one, or musl, is linked or found at run time.
extern "C" [[gnu::weak]] int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                     const timespec* until) noexcept;

namespace ebb::base {
namespace {

constexpr double kLongestSeconds = 1e9;
constexpr long kPollNanoseconds = 1'000'000;

timespec now_by(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

/// Requires: `seconds` is a number.
timespec time_after(timespec from, double seconds) {
  const double end = static_cast<double>(from.tv_nsec) * 1e-9 +
                     std::fmin(std::fmax(seconds, 0.0), kLongestSeconds);
  from.tv_sec += static_cast<time_t>(end);
  from.tv_nsec = static_cast<long>((end - std::floor(end)) * 1e9);
  return from;
}

bool is_before(const timespec& left, const timespec& right) {
  return left.tv_sec < right.tv_sec ||
         (left.tv_sec == right.tv_sec && left.tv_nsec < right.tv_nsec);
}

/// For a C library that can only wait for a mutex by the time of day, which may be set meanwhile.
[[maybe_unused]] bool lock_by_polling(pthread_mutex_t* mutex, const timespec& until) {
  while (pthread_mutex_trylock(mutex) != 0) {
    if (!is_before(now_by(CLOCK_MONOTONIC), until)) return false;
    const timespec pause{0, kPollNanoseconds};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

bool Mutex::try_lock_for(double seconds) {
#if defined(EBB_THREAD_SANITIZER)
  // The sanitizers of g++ 12 and clang 14 know no other clock.
  const timespec until = time_after(now_by(CLOCK_REALTIME), seconds);
  return pthread_mutex_timedlock(mutex_.native_handle(), &until) == 0;
#else
  const timespec until = time_after(now_by(CLOCK_MONOTONIC), seconds);
  if (pthread_mutex_clocklock == nullptr) return lock_by_polling(mutex_.native_handle(), until);
  return pthread_mutex_clocklock(mutex_.native_handle(), CLOCK_MONOTONIC, &until) == 0;
#endif
}

void Condition::begin() {
  pthread_condattr_t monotonic;
  EBB_CHECK(pthread_condattr_init(&monotonic) == 0);
  EBB_CHECK(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
  EBB_CHECK(pthread_cond_init(&condition_, &monotonic) == 0);
  pthread_condattr_destroy(&monotonic);
}

void Condition::wait_for(Mutex& mutex, double seconds) {
  const timespec until = time_after(now_by(CLOCK_MONOTONIC), seconds);
  pthread_cond_timedwait(&condition_, mutex.mutex_.native_handle(), &until);
}

}  // namespace ebb::base
