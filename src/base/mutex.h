// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <mutex>

// Lock annotations: clang's -Wthread-safety checks them, other compilers see nothing.
#if defined(__clang__)
#define EBB_ANNOTATION(x) __attribute__((x))
#else
#define EBB_ANNOTATION(x)
#endif
#define EBB_CAPABILITY(name) EBB_ANNOTATION(capability(name))
#define EBB_SCOPED_CAPABILITY EBB_ANNOTATION(scoped_lockable)
#define EBB_GUARDED_BY(mutex) EBB_ANNOTATION(guarded_by(mutex))
#define EBB_REQUIRES(...) EBB_ANNOTATION(requires_capability(__VA_ARGS__))
#define EBB_EXCLUDES(...) EBB_ANNOTATION(locks_excluded(__VA_ARGS__))
#define EBB_ACQUIRE(...) EBB_ANNOTATION(acquire_capability(__VA_ARGS__))
#define EBB_RELEASE(...) EBB_ANNOTATION(release_capability(__VA_ARGS__))
#define EBB_TRY_ACQUIRE(...) EBB_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace ebb::base {

/// std::mutex that clang can reason about.
class EBB_CAPABILITY("mutex") Mutex {
 public:
  void lock() EBB_ACQUIRE() { mutex_.lock(); }
  void unlock() EBB_RELEASE() { mutex_.unlock(); }
  /// Waits for so long at most; false where it could not be had.
  bool try_lock_for(double seconds) EBB_TRY_ACQUIRE(true);

 private:
  friend class Condition;
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class EBB_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) EBB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() EBB_RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable over Mutex; callers re-check their condition in a loop. It waits by the
/// monotonic clock with every C and C++ library: setting the time of day changes nothing.
class Condition {
 public:
  Condition() { begin(); }
  ~Condition() { pthread_cond_destroy(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void wait(Mutex& mutex) EBB_REQUIRES(mutex) {
    pthread_cond_wait(&condition_, mutex.mutex_.native_handle());
  }
  /// The same for at most so long; the caller looks at its clock, as it does at its condition.
  void wait_for(Mutex& mutex, double seconds) EBB_REQUIRES(mutex);
  void notify_all() { pthread_cond_broadcast(&condition_); }

  /// For a forked child, where nobody waits: a new condition in place of the old one. That one
  /// still counts the parent's waiters, and a call that wakes them would wait for them to go, for
  /// ever; so would its destructor, which is therefore not run. It owns nothing but these bytes.
  void renew() { begin(); }

 private:
  void begin();

  pthread_cond_t condition_;
};

}  // namespace ebb::base
