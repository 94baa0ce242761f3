// SPDX-License-Identifier: Apache-2.0
#include "replay/releases.h"

#include <algorithm>
#include <string_view>

#include "cache/rounding.h"

namespace ebb::replay {
namespace {

using trace::Action;
using trace::Event;

/// Longer than an allocator takes from giving memory back to asking for more (measured: below
/// 0.9 ms), shorter than a job takes from empty_cache to its next request (above 13 ms).
constexpr std::int64_t kPauseUs = 4000;

bool is_remark(const Event& event) {
  return event.action == Action::snapshot || event.action == Action::annotate;
}

/// Whether the stack goes through empty_cache; nothing where no stack was recorded.
std::optional<bool> called_empty_cache(const trace::Snapshot& snapshot, const Event& event) {
  if (event.stack == trace::kNone || snapshot.stacks[event.stack].empty()) return std::nullopt;
  for (const trace::Index frame : snapshot.stacks[event.stack]) {
    const trace::Index name = snapshot.frames[frame].name;
    if (name == trace::kNone) continue;
    const std::string_view text = snapshot.texts[name];
    if (text.find("empty_cache") != std::string_view::npos) return true;
    if (text.find("emptyCache") != std::string_view::npos) return true;
  }
  return false;
}

struct Burst {
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t reserved_before = 0;
};

class Judge {
 public:
  Judge(const trace::Snapshot& snapshot, const std::vector<Event>& events,
        const KnownSettings& known)
      : snapshot_(snapshot), events_(events), known_(known) {}

  bool is_by_job(const Burst& burst) const {
    if (const auto called = called_empty_cache(snapshot_, events_[burst.last])) return *called;
    const std::size_t next = follower_of(burst);
    if (next == events_.size()) return true;
    const Event& follower = events_[next];
    if (follower.action == Action::oom) return false;
    if (follower.action == Action::free_requested) return true;
    const bool expandable = events_[burst.last].action == Action::segment_unmap;
    // Neither garbage collection nor a retry looks into the pool again: both end in new memory.
    if (follower.action == Action::alloc && !expandable) return true;
    if (follower.action == Action::segment_alloc && could_have_served(burst, follower)) return true;
    const bool paused =
        snapshot_.has_times && follower.time_us - events_[burst.last].time_us >= kPauseUs;
    if (!known_.limit) return paused;
    if (!allocator_would_release(burst)) return true;
    // Under the limit, but perhaps served from what was mapped: then nothing had to be released.
    return follower.action == Action::alloc && paused;
  }

  /// Bytes that the request which follows the burst asks of the device.
  std::uint64_t asked(const Burst& burst) const {
    std::size_t request = follower_of(burst);
    while (request < events_.size() && events_[request].action == Action::segment_map) {
      ++request;
    }
    if (request == events_.size()) return 0;
    if (events_[request].action == Action::segment_alloc) return events_[request].size;
    const std::uint64_t rounded = cache::round_up(events_[request].size, cache::kMinBlock);
    return cache::segment_size(rounded, known_.settings.large_segment_size);
  }

 private:
  std::size_t follower_of(const Burst& burst) const {
    std::size_t next = burst.last + 1;
    while (next < events_.size() && is_remark(events_[next])) {
      ++next;
    }
    return next;
  }

  /// Whether a segment of the burst, free as a whole, had room for what follows. An allocator looks
  /// into its cache first, and would have needed no new memory.
  bool could_have_served(const Burst& burst, const Event& follower) const {
    if (known_.settings.max_split_size != cache::kUnlimited || waited_for_streams(burst))
      return false;
    return std::any_of(
        events_.begin() + static_cast<std::ptrdiff_t>(burst.first),
        events_.begin() + static_cast<std::ptrdiff_t>(burst.last) + 1, [&](const Event& event) {
          return event.action == Action::segment_free && event.stream == follower.stream &&
                 event.size >= follower.size && is_small(event) == is_small(follower);
        });
  }

  static bool is_small(const Event& segment) { return segment.size <= cache::kSmallSegment; }

  /// Whether blocks became free only when other streams were waited for, which is a part of giving
  /// memory back: until then they could not have served anybody.
  bool waited_for_streams(const Burst& burst) const {
    for (std::size_t i = burst.first; i <= burst.last; ++i)
      if (events_[i].action == Action::free_completed) return true;
    // A free that nothing had to wait for stands right behind its request.
    std::size_t before = burst.first;
    while (before > 0 && is_remark(events_[before - 1]))
      --before;
    if (before == 0 || events_[before - 1].action != Action::free_completed) return false;
    return before < 2 || events_[before - 2].action != Action::free_requested ||
           events_[before - 2].address != events_[before - 1].address;
  }

  bool allocator_would_release(const Burst& burst) const {
    if (burst.reserved_before + asked(burst) > *known_.limit) return true;
    const double threshold = known_.settings.garbage_collection_threshold;
    return threshold > 0 && static_cast<double>(burst.reserved_before) >
                                threshold * static_cast<double>(*known_.limit);
  }

  const trace::Snapshot& snapshot_;
  const std::vector<Event>& events_;
  const KnownSettings& known_;
};

}  // namespace

Releases releases_in(const trace::Snapshot& snapshot, const std::vector<Event>& events,
                     std::uint64_t reserved_at_start, const KnownSettings& known) {
  const Judge judge(snapshot, events, known);
  Releases found;
  const auto judged = [&](const Burst& burst) {
    if (judge.is_by_job(burst)) {
      found.by_job.push_back(burst.last);
    } else if (known.settings.garbage_collection_threshold == 0) {
      found.limit_below = std::min(found.limit_below, burst.reserved_before + judge.asked(burst));
    }
  };
  std::optional<Burst> burst;
  std::uint64_t reserved = reserved_at_start;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (is_release(event)) {
      if (!burst) burst = Burst{i, i, reserved};
      burst->last = i;
      reserved -= std::min(reserved, event.size);
      continue;
    }
    if (event.action == Action::segment_alloc || event.action == Action::segment_map) {
      reserved += event.size;
    }
    // Waiting for other streams is part of giving memory back.
    if (burst && event.action != Action::free_completed) {
      judged(*burst);
      burst.reset();
    }
  }
  if (burst) judged(*burst);
  return found;
}

}  // namespace ebb::replay
