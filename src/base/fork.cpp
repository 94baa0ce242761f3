// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

namespace ebb::base {

/// All of them, and the fork under way.
struct ForkMutexes {
  /// Whoever holds a lock of ours works for microseconds. A tenth of a second in parts: a machine
  /// or a control group that stands still for that long uses up one of them, not all.
  static constexpr double kPartSeconds = 0.005;
  static constexpr int kParts = 20;
  /// Another thread's fork takes as long as copying the tables of a large process does.
  static constexpr double kForkSeconds = 10;

  Mutex mutex;  // a fork holds it from before to after
  ForkMutex* first EBB_GUARDED_BY(mutex) = nullptr;

  std::atomic<bool> is_handled{false};
  std::atomic<bool> is_forking{false};
  std::atomic<pthread_t> forker{};
  std::atomic<pid_t> process{0};
  std::atomic<std::uint64_t> generation{0};
  std::atomic<bool> lost{false};
  std::atomic<void (*)()> when_lost{nullptr};

  void handle_forks();
  void add(ForkMutex& added) EBB_EXCLUDES(mutex);
  void remove(const ForkMutex& removed) EBB_EXCLUDES(mutex);

  // The locks are taken by one function and released by another.
  static bool take(Mutex& wanted, int& parts) EBB_ANNOTATION(no_thread_safety_analysis);
  bool take_list() EBB_ANNOTATION(no_thread_safety_analysis);
  void before() EBB_ANNOTATION(no_thread_safety_analysis);
  void in_parent() EBB_ANNOTATION(no_thread_safety_analysis);
  void in_child() EBB_ANNOTATION(no_thread_safety_analysis);
  void release_all() EBB_ANNOTATION(no_thread_safety_analysis);
  bool is_mine() const { return is_forking && pthread_equal(forker, pthread_self()) != 0; }
};

namespace {

constinit ForkMutexes all;

double seconds_since(std::int64_t start) {
  return seconds_between(start, system_clock().now_ns());
}

}  // namespace

void ForkMutexes::handle_forks() {
  // Before anything is locked: a fork that runs handlers may hold the C library's list of them.
  if (is_handled.exchange(true)) return;
  process = ::getpid();
  pthread_atfork([] { all.before(); }, [] { all.in_parent(); }, [] { all.in_child(); });
}

void ForkMutexes::add(ForkMutex& added) {
  handle_forks();
  if (fork_lost()) return;
  Lock lock(mutex);
  ForkMutex** place = &first;
  while (*place != nullptr && (*place)->rank_ >= added.rank_)
    place = &(*place)->next_;
  added.next_ = *place;
  *place = &added;
}

void ForkMutexes::remove(const ForkMutex& removed) {
  if (fork_lost()) return;
  Lock lock(mutex);
  for (ForkMutex** place = &first; *place != nullptr; place = &(*place)->next_) {
    if (*place != &removed) continue;
    *place = removed.next_;
    return;
  }
}

bool ForkMutexes::take(Mutex& wanted, int& parts) {
  for (; parts > 0; --parts)
    if (wanted.try_lock_for(kPartSeconds)) return true;
  return false;
}

bool ForkMutexes::take_list() {
  const std::int64_t start = system_clock().now_ns();
  int parts = kParts;
  while (!take(mutex, parts)) {
    if (!is_forking || seconds_since(start) >= kForkSeconds) return false;
    parts = kParts;
  }
  return true;
}

void ForkMutexes::before() {
  if (lost || !take_list()) return;
  int parts = kParts;
  for (ForkMutex* taken = first; taken != nullptr; taken = taken->next_) {
    if (take(*taken, parts)) continue;
    for (ForkMutex* given_up = first; given_up != taken; given_up = given_up->next_)
      given_up->unlock();
    mutex.unlock();
    return;
  }
  forker = pthread_self();
  is_forking = true;
}

void ForkMutexes::release_all() {
  is_forking = false;
  for (ForkMutex* held = first; held != nullptr; held = held->next_)
    held->unlock();
  mutex.unlock();
}

void ForkMutexes::in_parent() {
  if (is_mine()) release_all();
}

void ForkMutexes::in_child() {
  process = ::getpid();
  ++generation;
  if (is_mine()) {
    for (const ForkMutex* held = first; held != nullptr; held = held->next_)
      if (held->in_child_ != nullptr) held->in_child_(held->owner_);
    release_all();
  } else {
    lost = true;
    if (void (*act)() = when_lost) act();
  }
}

ForkMutex::ForkMutex(int rank, InChild in_child, void* owner)
    : rank_(rank), in_child_(in_child), owner_(owner) {
  all.add(*this);
}

ForkMutex::~ForkMutex() {
  all.remove(*this);
}

bool fork_lost() {
  const pid_t process = all.process;
  return all.lost || (process != 0 && process != ::getpid());
}

void when_fork_lost(void (*act)()) {
  all.when_lost = act;
}

std::uint64_t fork_generation() {
  all.handle_forks();
  return all.generation;
}

ForkMutex& loader_calls() {
  static std::atomic<ForkMutex*> place;
  return made_once(place, [] { return new ForkMutex(0); });
}

}  // namespace ebb::base
