// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/certificate_replay.h"

#include "replay/forecast.h"

namespace ebb::replay {
namespace {

using trace::Action;
using trace::Event;

/// The recording as if no free had to wait.
std::vector<Event> without_waiting(const std::vector<Event>& events) {
  std::vector<Event> rest;
  for (const Event& event : events) {
    if (event.action == Action::free_completed) continue;
    rest.push_back(event);
    if (event.action != Action::free_requested) continue;
    rest.push_back(event);
    rest.back().action = Action::free_completed;
  }
  return rest;
}

trace::Snapshot without_pools(trace::Snapshot snapshot) {
  for (std::vector<Event>& events : snapshot.traces) {
    for (Event& event : events) {
      event.pool = 0;
    }
  }
  for (trace::Segment& segment : snapshot.segments) {
    segment.pool = {};
  }
  return snapshot;
}

}  // namespace

std::string why_not_replayed(const trace::Snapshot& snapshot, int device,
                             std::optional<std::uint64_t> limit, const base::Json& evidence) {
  const base::Json* row = evidence.find("row");
  if (row == nullptr) return "";
  trace::Snapshot altered = snapshot;
  const base::Json* without = evidence.find("without");
  if (without != nullptr && *without->as_string() == "deferred_frees") {
    auto& events = altered.traces[static_cast<std::size_t>(device)];
    events = without_waiting(events);
  }
  if (without != nullptr && *without->as_string() == "private_pools") {
    altered = without_pools(std::move(altered));
  }
  const auto workload = workload_of(altered, {device, limit});
  if (!workload) return workload.error().message;
  Circumstances circumstances;
  circumstances.limit = row->find("limit_bytes")->as_unsigned().value_or(cache::kUnlimited);
  const auto profile = cache::parse_version(*row->find("torch_version")->as_string());
  if (!profile) return profile.error().message;
  circumstances.profile = *profile;
  const auto again = forecast(*workload, *row->find("conf")->as_string(), circumstances, false);
  if (!again) return again.error().message;
  if (again->outcome.oom) return "it runs out of memory";
  const auto claimed = row->find("peak_reserved_bytes")->as_unsigned();
  if (again->outcome.peak_reserved == claimed) return "";
  return "its peak is " + std::to_string(again->outcome.peak_reserved) + ", not " +
         std::to_string(claimed.value_or(0));
}

}  // namespace ebb::replay
