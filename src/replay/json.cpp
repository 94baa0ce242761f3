// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cache/failure.h"
#include "cache/stats_keys.h"
#include "replay/forecast.h"

namespace ebb::replay {
namespace {

base::Json limit_json(std::uint64_t limit) {
  return limit == cache::kUnlimited ? base::Json() : base::Json(limit);
}

base::Json oom_json(const Row& row) {
  if (!row.oom_at) return {};
  base::Json oom = base::Json::object({{"requests_before", row.oom_at->low}});
  if (!row.oom_at->is_exact()) {
    oom.set("latest_requests_before", limit_json(row.oom_at->high));
  }
  if (row.outcome.oom) {
    const OutOfMemory& first = *row.outcome.oom;
    oom.set("requests_before", first.requests);
    oom.set("tried_bytes", first.bytes);
    oom.set("reserved_bytes", first.failure.reserved);
    oom.set("allocated_bytes", first.failure.allocated);
    oom.set("recorded", first.recorded);
    oom.set("message", cache::summary_of(first.failure));
  }
  oom.set("earliest_requests_before", row.oom_at->low);
  oom.set("count", row.outcome.ooms);
  return oom;
}

}  // namespace

base::Json to_json(const Row& row) {
  const Outcome& outcome = row.outcome;
  base::Json json = base::Json::object({
      {"conf", row.conf},
      {"torch_version", base::format_text("2.%d", row.profile.minor)},
      {"limit_bytes", limit_json(row.limit)},
      {"peak_reserved_bytes", outcome.peak_reserved},
      {"peak_reserved_range_bytes", base::Json::array({row.peak.low, row.peak.high})},
      {"peak_allocated_bytes", outcome.peak_allocated},
      {"final_reserved_bytes", outcome.final_reserved},
      {"final_allocated_bytes", outcome.final_allocated},
      {"retries", outcome.retries},
      {"driver_calls", outcome.calls.total()},
      {"driver_seconds", outcome.calls.seconds},
      {"check", check_text(row)},
      {"is_recorded", row.is_recorded},
      {"oom", oom_json(row)},
      {"rescued_requests", outcome.rescued},
  });
  base::Json events = base::Json::array();
  for (const SegmentEvent& event : outcome.events) {
    events.push(base::Json::array({event.requests, trace::name_of(event.action), event.size}));
  }
  json.set("segment_events", std::move(events));
  base::Json stats = base::Json::object();
  for (const auto& [key, value] :
       cache::memory_stats(outcome.stats, outcome.private_reserved, row.profile)) {
    stats.set(key, value);
  }
  json.set("memory_stats", std::move(stats));
  return json;
}

base::Json to_json(const Workload& workload) {
  const Recording& recording = workload.recording;
  base::Json notes = base::Json::array();
  for (const std::string& note : workload.notes) {
    notes.push(note);
  }
  return base::Json::object({
      {"requests", workload.requests},
      {"blocks", std::uint64_t{workload.blocks}},
      {"streams", std::uint64_t{workload.streams.size()}},
      {"pools", std::uint64_t{workload.pools.size()}},
      {"seconds", recording.seconds},
      {"conf", recording.conf_known ? base::Json(recording.conf) : base::Json()},
      {"torch_version", base::format_text("2.%d", recording.newest_minor)},
      {"peak_reserved_bytes", recording.peak_reserved},
      {"final_reserved_bytes", recording.final_reserved},
      {"ooms", recording.ooms},
      {"limit_at_least_bytes", recording.limit_low},
      {"limit_below_bytes", limit_json(recording.limit_high)},
      {"notes", std::move(notes)},
  });
}

}  // namespace ebb::replay
