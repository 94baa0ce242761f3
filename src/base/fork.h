// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

// fork() copies one thread and all memory. A lock that another thread held then stays held in the
// child for ever, what it guards may be half changed, conditions count waiters that do not exist,
// and a function's static that was being made is never ready. Code that runs in other people's
// programs, which fork as they like, therefore
//
//   - guards what a child goes on using with a ForkMutex, and renews conditions in the child;
//   - makes what it needs once with made_once() instead of a static with a lock behind it.
//
// posix_spawn, vfork and exec need none of this: no code of ours runs between them.

namespace ebb::base {

/// A mutex that fork() takes first and releases in both processes, so that the child finds it free
/// and what it guards whole. One that cannot be had within a tenth of a second is given up: the
/// fork goes on without any, and the child is lost (see fork_lost). Thread-safe.
class EBB_CAPABILITY("mutex") ForkMutex : public Mutex {
 public:
  /// Puts the owner in order in the child, with all these mutexes held. Must not take one. A mutex
  /// that has one is the last member of its owner: a fork may come as soon as it is made.
  using InChild = void (*)(void* owner);

  /// `rank`: of the layer that it belongs to (src/README.md). Higher ranks are taken first, so a
  /// holder may take a mutex of a lower rank only. Make and destroy one while holding none, and
  /// after the first use of malloc: an allocator's own handlers have to come before these.
  explicit ForkMutex(int rank, InChild in_child = nullptr, void* owner = nullptr);
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

 private:
  friend struct ForkMutexes;

  const int rank_;
  const InChild in_child_;
  void* const owner_;
  ForkMutex* next_ = nullptr;
};

/// Whether this process, or one that it descends from, was forked while a ForkMutex could not be
/// had, or came about without fork's handlers (clone, _Fork). Nothing that such a mutex guards may
/// be touched: the process goes on without Ebb.
bool fork_lost();

/// Runs `act` in a child that is lost, at once. It must take no lock. The last one set counts.
void when_fork_lost(void (*act)());

/// How many forks lie between the first use of this code and this process. What was begun under
/// another number, and not ended, has nobody here to end it.
std::uint64_t fork_generation();

/// What `make()` gave (a pointer from new) on first use, kept in `place` for ever. Without a lock:
/// threads that come at once each make one, and all but the first delete theirs.
template <class T, class Make>
T& made_once(std::atomic<T*>& place, Make&& make) {
  if (T* there = place.load(std::memory_order_acquire)) return *there;
  T* made = make();
  T* first = nullptr;
  if (place.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *first;
}

/// Held around calls of the dynamic linker on threads of ours: it has a lock that glibc leaves as
/// it is in a child, where the next dlopen would then wait for ever.
ForkMutex& loader_calls();

}  // namespace ebb::base
