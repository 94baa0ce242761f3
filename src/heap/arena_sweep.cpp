// SPDX-License-Identifier: Apache-2.0
#include "heap/arena_sweep.h"

#include <limits.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "base/fork.h"
#include "base/signals_blocked.h"
#include "base/text.h"

namespace ebb::heap {
namespace {

/// Above this a top goes back while we sweep: glibc's own default before it adjusts itself.
constexpr int kSweepThreshold = 128 << 10;
/// What glibc would end up with after the 32 MiB blocks that training jobs free.
constexpr int kRestoredThreshold = 64 << 20;
/// Freeing this much makes glibc consider trimming (64 KiB), and it is below the mmap threshold.
constexpr std::size_t kProbeBytes = 100 << 10;
/// glibc makes this many arenas before it thinks of a limit.
constexpr unsigned kArenasAnyway = 8;

/// All helpers hold their arena until the last one has touched its own.
class Gathering {
 public:
  void arrive_and_wait() EBB_EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    while (!open_)
      changed_.wait(mutex_);
  }

  void open_when(unsigned expected) EBB_EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    while (arrived_ < expected)
      changed_.wait(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  base::Mutex mutex_;
  base::Condition changed_;
  unsigned arrived_ EBB_GUARDED_BY(mutex_) = 0;
  bool open_ EBB_GUARDED_BY(mutex_) = false;
};

struct Shared {
  const SweepFunctions* functions;
  Gathering gathering;
};

void* helper(void* context) {
  auto* shared = static_cast<Shared*>(context);
  shared->functions->free(shared->functions->malloc(kProbeBytes));
  shared->gathering.arrive_and_wait();
  return nullptr;
}

/// The threshold that the user chose at start, which a sweep must not lose.
int threshold_to_restore() {
  if (const char* chosen = std::getenv("MALLOC_TRIM_THRESHOLD_")) {
    const auto value = base::parse_unsigned(chosen);
    if (value && *value <= static_cast<unsigned>(INT_MAX)) return static_cast<int>(*value);
  }
  return kRestoredThreshold;
}

/// The sweeps of this process: a child that is forked in the middle of one puts things right.
class Sweeps {
 public:
  void begin(const SweepFunctions& functions) EBB_EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    ++under_way_;
    mallopt_ = functions.mallopt;
    mallopt_(kTrimThresholdOption, kSweepThreshold);
  }

  /// Not while a fork is under way: glibc takes a lock that it leaves as it is in a child.
  bool start(pthread_t& thread, const pthread_attr_t& attributes, void* (*body)(void*),
             void* context) EBB_EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    return pthread_create(&thread, &attributes, body, context) == 0;
  }

  void end(int restored) EBB_EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    if (--under_way_ == 0) mallopt_(kTrimThresholdOption, restored);
  }

 private:
  static void after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
    auto* sweeps = static_cast<Sweeps*>(self);
    if (sweeps->under_way_ == 0) return;
    sweeps->under_way_ = 0;
    sweeps->mallopt_(kTrimThresholdOption, threshold_to_restore());
  }

  unsigned under_way_ EBB_GUARDED_BY(mutex_) = 0;
  int (*mallopt_)(int, int) EBB_GUARDED_BY(mutex_) = nullptr;
  base::ForkMutex mutex_{2, after_fork_in_child, this};
};

Sweeps& sweeps() {
  static std::atomic<Sweeps*> place;
  return base::made_once(place, [] { return new Sweeps; });
}

/// Threads that no signal of the job reaches and that cost next to no stack.
std::vector<pthread_t> start_helpers(unsigned wanted, Shared& shared) {
  std::vector<pthread_t> threads;
  threads.reserve(wanted);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return threads;
  pthread_attr_setstacksize(
      &attributes, std::max(std::size_t{64} << 10, static_cast<std::size_t>(PTHREAD_STACK_MIN)));
  const base::SignalsBlocked blocked;
  for (unsigned i = 0; i < wanted; ++i) {
    pthread_t thread{};
    if (!sweeps().start(thread, attributes, helper, &shared)) break;
    threads.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  return threads;
}

}  // namespace

SweepResult sweep_arenas(unsigned arenas, const SweepFunctions& functions) {
  EBB_CHECK(arenas >= 2);
  SweepResult result;
  // With two arenas or more glibc has consulted a limit that the user set, and no longer listens;
  // where none was set this keeps the helpers from making arenas instead of joining them.
  const unsigned limit = std::max(arenas, kArenasAnyway);
  functions.mallopt(kArenaMaxOption, static_cast<int>(limit));
  sweeps().begin(functions);

  Shared shared{&functions, {}};
  // Arenas are handed out in turn among those with the fewest threads: twice round reaches all.
  const std::vector<pthread_t> threads = start_helpers(2 * limit, shared);
  result.threads = static_cast<unsigned>(threads.size());
  shared.gathering.open_when(result.threads);
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);

  const int restored = threshold_to_restore();
  sweeps().end(restored);
  result.notes.push_back(base::format_text(
      "glibc's thresholds no longer adjust themselves: trim threshold %d KiB from now on; at most "
      "%u arenas unless the limit was already fixed",
      restored >> 10, limit));
  if (threads.size() < 2 * limit) {
    result.notes.push_back(base::format_text("only %zu of %u helper threads could be started",
                                             threads.size(), 2 * limit));
  }
  return result;
}

}  // namespace ebb::heap
