// SPDX-License-Identifier: Apache-2.0
#include "trace/steps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/text.h"

namespace ebb::trace {
namespace {

constexpr std::size_t kFewest = 3;

/// "ProfilerStep#12" and "ProfilerStep#13" are the same range.
std::string_view without_number(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
    name.remove_suffix(1);
  }
  return name;
}

struct RangeUse {
  std::vector<std::int64_t> starts;
  std::size_t outermost = 0;  ///< of them, inside no other range that repeats
};
using Ranges = std::map<std::string, RangeUse, std::less<>>;

/// The ranges of one device that begin often enough, with their times in order.
Ranges repeated_ranges(const Snapshot& snapshot, int device) {
  Ranges ranges;
  for (const Annotation& annotation : snapshot.annotations) {
    if (annotation.device != device || !annotation.start) continue;
    ranges[std::string(without_number(annotation.name))].starts.push_back(annotation.time_us);
  }
  std::erase_if(ranges, [](const auto& entry) { return entry.second.starts.size() < kFewest; });
  std::size_t open = 0;
  for (const Annotation& annotation : snapshot.annotations) {
    const auto range = ranges.find(without_number(annotation.name));
    if (annotation.device != device || range == ranges.end()) continue;
    if (annotation.start && open++ == 0) ++range->second.outermost;
    if (!annotation.start && open > 0) --open;
  }
  for (auto& entry : ranges) {
    std::sort(entry.second.starts.begin(), entry.second.starts.end());
  }
  return ranges;
}

/// The first event at or after each time; a time before the first event, or with no event before
/// the next time, begins no step.
std::vector<std::size_t> events_at(const std::vector<Event>& trace,
                                   const std::vector<std::int64_t>& times) {
  std::vector<std::size_t> begins;
  std::size_t event = 0;
  for (const std::int64_t time : times) {
    while (event < trace.size() && trace[event].time_us < time) {
      ++event;
    }
    if (event == trace.size()) break;
    const bool before_first = event == 0 && time < trace[0].time_us;
    if (before_first && !begins.empty()) continue;
    if (begins.empty() || begins.back() != event) begins.push_back(event);
  }
  return begins;
}

Steps steps_of_annotations(const Snapshot& snapshot, std::size_t device) {
  Steps steps;
  if (!snapshot.has_times) return steps;
  Ranges ranges = repeated_ranges(snapshot, static_cast<int>(device));
  // The profiler's steps, then what is outside everything else, an optimizer's first.
  const auto rank = [](const Ranges::value_type& entry) {
    const std::string_view name = entry.first;
    return std::tuple(name == "ProfilerStep#", entry.second.outermost >= kFewest,
                      name.starts_with("Optimizer.step#"), entry.second.outermost);
  };
  while (!ranges.empty()) {
    const auto best =
        std::max_element(ranges.begin(), ranges.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    steps.begins = events_at(snapshot.traces[device], best->second.starts);
    if (steps.begins.size() >= kFewest) {
      steps.source = Steps::Source::annotations;
      steps.name = best->first;
      steps.note = base::format_text("%zu steps, each begins with the range '%s'",
                                     steps.begins.size(), steps.name.c_str());
      return steps;
    }
    ranges.erase(best);
  }
  steps.begins.clear();
  return steps;
}

/// A period is looked for among this many of the last requests.
constexpr std::size_t kHashWindow = 1 << 20;
/// Fewer requests than this are no step.
constexpr std::size_t kShortest = 8;

/// How often the same few sizes were asked for one after another, and how evenly.
struct RunUse {
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t gap = 0;   ///< between the last two
  std::size_t even = 0;  ///< requests in gaps that were about as long as the one before
};

bool about_equal(std::size_t a, std::size_t b) {
  return std::max(a, b) - std::min(a, b) <= 1 + std::max(a, b) / 20;
}

class RequestRuns {
 public:
  /// Runs of `length` requests.
  RequestRuns(const std::vector<Event>& trace, std::size_t length) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].action == Action::alloc) events_.push_back(i);
    }
    if (events_.size() < length) return;
    hashes_.resize(events_.size() - length + 1);
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      std::uint64_t hash = 0;
      for (std::size_t j = 0; j < length; ++j) {
        hash = (hash ^ trace[events_[i + j]].size) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
      }
      hashes_[i] = hash;
    }
  }

  /// The events at which the run begins that best marks a step; empty where none is even enough.
  std::vector<std::size_t> begins() const {
    const std::size_t start = hashes_.size() - std::min(hashes_.size(), kHashWindow);
    const Uses uses = count_uses(start);
    const std::size_t period = best_period(uses, hashes_.size() - start);
    const Uses::value_type* anchor = nullptr;
    for (const auto& entry : uses) {
      if (!is_even(entry.second, hashes_.size() - start) || entry.second.gap != period) continue;
      const auto rank = [](const RunUse& use) { return std::pair(use.even, ~use.first); };
      if (anchor == nullptr || rank(entry.second) > rank(anchor->second)) anchor = &entry;
    }
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; anchor != nullptr && i < hashes_.size(); ++i) {
      if (hashes_[i] == anchor->first) begins.push_back(events_[i]);
    }
    return begins;
  }

 private:
  using Uses = std::unordered_map<std::uint64_t, RunUse>;

  Uses count_uses(std::size_t start) const {
    Uses uses;
    for (std::size_t i = start; i < hashes_.size(); ++i) {
      RunUse& use = uses[hashes_[i]];
      const std::size_t gap = i - use.last;
      if (use.count == 0) use.first = i;
      if (use.count > 1 && about_equal(gap, use.gap)) use.even += gap;
      if (use.count > 0) use.gap = gap;
      use.last = i;
      ++use.count;
    }
    return uses;
  }

  /// The layers of a model repeat too, but only for a part of each step: most requests must lie in
  /// even gaps. The first steps of a program and what comes between may differ.
  static bool is_even(const RunUse& use, std::size_t requests) {
    return use.count >= kFewest && use.gap >= kShortest && 2 * use.even >= requests;
  }

  /// The gap for which most runs speak; 0 for none.
  static std::size_t best_period(const Uses& uses, std::size_t requests) {
    std::map<std::size_t, std::size_t> votes;
    for (const auto& entry : uses) {
      if (is_even(entry.second, requests)) ++votes[entry.second.gap];
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? 0 : most->first;
  }

  std::vector<std::size_t> events_;  ///< of the requests
  std::vector<std::uint64_t> hashes_;
};

}  // namespace

Steps find_steps(const Snapshot& snapshot, std::size_t device) {
  Steps steps;
  if (device >= snapshot.traces.size() || snapshot.traces[device].empty()) {
    steps.note = "no steps: the device has no events";
    return steps;
  }
  steps = steps_of_annotations(snapshot, device);
  if (steps.source != Steps::Source::none) return steps;
  // Long runs tell one place of a step from another; short ones survive sizes that vary.
  for (const std::size_t length : {8U, 4U, 2U}) {
    steps.begins = RequestRuns(snapshot.traces[device], length).begins();
    if (steps.begins.size() < kFewest) continue;
    steps.source = Steps::Source::request_sizes;
    steps.note = base::format_text("%zu steps, each begins with the same %zu request sizes",
                                   steps.begins.size(), length);
    return steps;
  }
  steps.begins.clear();
  steps.note = "no steps: no named range repeats three times, and no order of request sizes evenly";
  return steps;
}

}  // namespace ebb::trace
