// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fork.h"
#include "base/json.h"
#include "base/reclaimer.h"
#include "fact/cleanup.h"
#include "heap/host_allocator.h"
#include "heap/private_allocators.h"

// keep: what to do with memory and when. Cleanup, round schedules by role, thresholds, the
// environment a job should start with.

namespace ebb::keep {

/// What one cleanup shall do.
struct CleanupRequest {
  bool cuda_empty_cache = false;  ///< also run reclaimers of device caches
  bool hooks = true;              ///< run the registered reclaimers at all
  bool collect_garbage = true;    ///< also those that are a language's garbage collector
  /// Go deep even where light was enough; otherwise deep happens when light left enough behind.
  bool deep = false;
  /// Also ask the allocators that libraries bring for their own use.
  bool beside = true;
  /// Nothing but reclaimers of device caches, for a card that is full; the heap is not looked at.
  bool devices_alone = false;
  /// Tell the cleaner's observer. Not for whoever answers for the cleanup himself.
  bool announce = true;
};

/// One thing that a cleanup did, with what it gave back by itself.
struct CleanupStep {
  std::string name;
  bool ok = true;
  std::int64_t returned = 0;  ///< RSS before this step minus RSS after it; 0 where not known
  double seconds = 0;
  std::string detail;
};

/// The proof: what was measured before and after, and what was done for it.
struct CleanupReport {
  heap::AllocatorKind allocator = heap::AllocatorKind::unknown;
  fact::Cleanup measured;
  std::vector<CleanupStep> steps;
  std::vector<std::string> notes;  ///< lasting side effects and limits, each once
  bool coalesced = false;          ///< another thread's cleanup was under way; this is its report
};

/// The report as JSON; the keys are documented in docs/cleanup.md.
base::Json to_json(const CleanupReport& report);

/// Where rss of this process comes from; nothing where it cannot be read.
using RssSource = std::function<std::optional<std::uint64_t>()>;

/// Hears of what was done.
using CleanupObserver = std::function<void(const fact::Cleanup& done)>;

/// Whether malloc accounts for so little of this process's memory that it is worth looking for
/// allocators of libraries' own, which costs tens of milliseconds once. `memory`: what malloc says.
bool is_worth_looking_beside(fact::ProcessSample memory);

/// What this process holds now: live and retained as its allocator says, and rss.
fact::ProcessSample sample_of(heap::HostAllocator& allocator, const RssSource& rss);

/// One line for a log: "returned 564.0 MiB in 27 ms: rss 570.1 MiB -> 6.1 MiB (glibc, light)".
std::string summary_of(const CleanupReport& report);

/// Light leaves enough behind for a deep give-back when both are exceeded.
inline constexpr std::uint64_t kWorthGoingDeepBytes = 32ULL << 20;
inline constexpr double kWorthGoingDeepShare = 0.05;

/// Runs cleanups, one at a time. Thread-safe; throws nothing but std::bad_alloc, after which others
/// may clean as before; not for signal handlers. A forked child
/// starts with no cleanup under way; one that forked from inside a hook ends there for itself
/// alone. The allocator, registry and clock outlive it.
class Cleaner {
 public:
  Cleaner(heap::HostAllocator& allocator, base::ReclaimerRegistry& reclaimers, RssSource rss,
          const base::Clock& clock = base::system_clock());

  /// From now on `observer` hears of every cleanup and every trim, once, on the thread that made it
  /// and when others may clean again. Called once, before the first of them.
  void observe(CleanupObserver observer) { observer_ = std::move(observer); }

  /// Runs the reclaimers, then the allocator's give-back. A call while another thread cleans waits
  /// and gets the same report, marked coalesced, unless that was about devices alone and this is
  /// not; a call from inside a reclaimer returns at once with a note.
  CleanupReport clean(const CleanupRequest& request) EBB_EXCLUDES(mutex_);

  /// The allocator's call alone, in NVFlare's words: 1 something was given back, 0 nothing was,
  /// nothing where this allocator has no such call. On glibc it is malloc_trim's own answer.
  std::optional<int> trim() EBB_EXCLUDES(mutex_);

  /// RSS right now, from the same source as the reports.
  std::optional<std::uint64_t> rss() const { return rss_(); }

  heap::HostAllocator& allocator() { return allocator_; }

 private:
  CleanupReport run(const CleanupRequest& request);
  void reclaim(const CleanupRequest& request, CleanupReport& report);
  void finish(std::uint64_t mine, const CleanupReport& report) EBB_EXCLUDES(mutex_);
  void give_back(fact::Depth depth, CleanupReport& report);
  void give_back_beside(CleanupReport& report);
  bool deep_is_worth_it(const fact::ProcessSample& left) const EBB_EXCLUDES(mutex_);
  static void after_fork_in_child(void* self);

  heap::HostAllocator& allocator_;
  base::ReclaimerRegistry& reclaimers_;
  const RssSource rss_;
  const base::Clock& clock_;
  CleanupObserver observer_;
  std::unique_ptr<heap::PrivateAllocators> beside_;  ///< of whoever cleans, made on first use

  base::Condition finished_;
  std::uint64_t running_ EBB_GUARDED_BY(mutex_) = 0;  ///< which cleanup; 0: none
  std::uint64_t started_ EBB_GUARDED_BY(mutex_) = 0;
  std::thread::id runner_ EBB_GUARDED_BY(mutex_);
  std::uint64_t generation_ EBB_GUARDED_BY(mutex_) = 0;
  CleanupReport latest_ EBB_GUARDED_BY(mutex_);
  /// What the last deep give-back could not reach: going deep again for that would be in vain.
  std::uint64_t beyond_reach_ EBB_GUARDED_BY(mutex_) = 0;
  mutable base::ForkMutex mutex_{3, after_fork_in_child, this};
};

}  // namespace ebb::keep
