// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/empty_cache.h"

#include <algorithm>

#include "replay/releases.h"
#include "trace/steps.h"

namespace ebb::replay {
namespace {

using trace::Action;
using trace::Event;

/// Fewer calls are no loop.
constexpr std::uint64_t kLeastCalls = 4;

bool takes(const Event& event) {
  return event.action == Action::segment_alloc || event.action == Action::segment_map;
}

/// The first event of the burst that ends with `last`; other streams are waited for in between.
std::size_t first_of_burst(const std::vector<Event>& events, std::size_t last) {
  std::size_t first = last;
  for (std::size_t i = last; i-- > 0;) {
    if (is_release(events[i])) {
      first = i;
    } else if (events[i].action != Action::free_completed) {
      break;
    }
  }
  return first;
}

class Counter {
 public:
  explicit Counter(const std::vector<Event>& events) : events_(events) {}

  /// One call, whose last event is `last`, followed by whatever comes before `end`.
  void count(std::size_t last, std::size_t end) {
    const std::size_t first = first_of_burst(events_, last);
    std::uint64_t released = 0;
    for (std::size_t i = first; i <= last; ++i) {
      if (!is_release(events_[i])) continue;
      released += events_[i].size;
      ++use.driver_calls;
    }
    std::uint64_t retaken = 0;
    for (std::size_t i = last + 1; i < end && retaken < released; ++i) {
      if (!takes(events_[i])) continue;
      retaken += events_[i].size;
      ++use.driver_calls;
    }
    ++use.calls;
    use.released += released;
    use.retaken += std::min(retaken, released);
    microseconds += std::max<std::int64_t>(0, events_[last].time_us - events_[first].time_us);
  }

  EmptyCacheUse use;
  std::int64_t microseconds = 0;

 private:
  const std::vector<Event>& events_;
};

}  // namespace

bool EmptyCacheUse::is_harmful() const {
  return calls >= kLeastCalls && 2 * retaken >= released && 2 * calls >= steps;
}

EmptyCacheUse empty_cache_use(const trace::Snapshot& snapshot, int device,
                              const Workload& workload) {
  const std::vector<Event>& events = snapshot.traces[static_cast<std::size_t>(device)];
  std::vector<std::size_t> ends;  // of each call
  for (const Operation& op : workload.operations)
    if (op.kind == Operation::Kind::empty_cache) ends.push_back(op.event);
  Counter counter(events);
  for (std::size_t i = 0; i < ends.size(); ++i)
    counter.count(ends[i],
                  i + 1 < ends.size() ? first_of_burst(events, ends[i + 1]) : events.size());
  if (counter.use.calls == 0) return {};
  if (snapshot.has_times) counter.use.seconds = static_cast<double>(counter.microseconds) / 1e6;
  counter.use.steps = trace::find_steps(snapshot, static_cast<std::size_t>(device)).begins.size();
  return counter.use;
}

base::Json to_json(const EmptyCacheUse& use) {
  return base::Json::object({{"calls", use.calls},
                             {"released_bytes", use.released},
                             {"retaken_bytes", use.retaken},
                             {"driver_calls", use.driver_calls},
                             {"steps", use.steps},
                             {"seconds", use.seconds},
                             {"harmful", use.is_harmful()}});
}

}  // namespace ebb::replay
