// SPDX-License-Identifier: Apache-2.0
#include "replay/forecast.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ebb::replay {
namespace {

constexpr std::array<Placement, 3> kTriedPlacements = {Placement::recorded, Placement::down,
                                                       Placement::up};

/// Whether the place of a segment can change what is done: only where addresses break ties between
/// blocks of different segments.
bool depends_on_addresses(const Setup& setup) {
  return setup.profile.tie_break == cache::TieBreak::address && !setup.settings.expandable_segments;
}

/// How a replay of the recorded settings differs from the recording.
std::string difference_of(const Workload& work, const Outcome& outcome) {
  const Recording& recording = work.recording;
  const auto [ours, theirs] = std::mismatch(outcome.events.begin(), outcome.events.end(),
                                            recording.events.begin(), recording.events.end());
  const std::uint64_t where = theirs != recording.events.end() ? theirs->requests
                              : ours != outcome.events.end()   ? ours->requests
                                                               : work.requests;
  const double off = recording.peak_reserved == 0
                         ? 0
                         : 100 * (static_cast<double>(outcome.peak_reserved) /
                                      static_cast<double>(recording.peak_reserved) -
                                  1);
  return base::format_text("peak %+.2f %%, differs from request %llu on", off,
                           static_cast<unsigned long long>(where));
}

/// Whether the row runs under what was recorded. A limit is never recorded: it has to be one under
/// which the recorded successes and failures are possible.
bool is_recorded(const Workload& work, const Row& row) {
  const Recording& recording = work.recording;
  return row.conf == recording.conf && row.profile.minor == recording.newest_minor &&
         row.limit >= recording.limit_low &&
         (recording.limit_high == cache::kUnlimited || row.limit < recording.limit_high);
}

void widen(Range& range, std::uint64_t value) {
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

std::uint64_t oom_position(const Outcome& outcome) {
  return outcome.oom ? outcome.oom->requests : cache::kUnlimited;
}

}  // namespace

std::string check_text(const Row& row) {
  if (row.check == Check::exact) return "exact";
  return row.check == Check::range ? "range" : row.difference;
}

cache::VersionProfile profile_for(const Workload& workload, const Circumstances& circumstances) {
  if (circumstances.profile) return *circumstances.profile;
  return *cache::profile_of(workload.recording.newest_minor);
}

std::uint64_t limit_for(const Workload& workload, const Circumstances& circumstances) {
  if (circumstances.limit) return *circumstances.limit;
  const Recording& recording = workload.recording;
  const bool ran_short = recording.limit_high != cache::kUnlimited;
  const bool consistent = recording.limit_low < recording.limit_high;
  if (!ran_short || !consistent) return cache::kUnlimited;
  return std::clamp(recording.device_limit, recording.limit_low, recording.limit_high - 1);
}

base::Result<Row> forecast(const Workload& workload, const std::string& conf,
                           const Circumstances& circumstances, bool details) {
  Row row;
  row.conf = conf;
  row.profile = profile_for(workload, circumstances);
  row.limit = limit_for(workload, circumstances);
  Setup setup;
  setup.profile = row.profile;
  setup.limit = row.limit;
  setup.placement = circumstances.placement;
  auto settings = cache::parse_settings(conf, row.profile);
  if (!settings) return settings.error();
  if (settings->async_backend) {
    return base::error(base::Code::bad_input,
                       "backend:cudaMallocAsync: replay knows PyTorch's native allocator only");
  }
  setup.settings = *settings;
  row.is_recorded = is_recorded(workload, row) && setup.placement == Placement::recorded;
  setup.as_recorded = row.is_recorded;
  setup.keep_events = details || row.is_recorded;
  setup.keep_curve = details;
  row.outcome = replay(workload, setup);
  row.peak = {row.outcome.peak_reserved, row.outcome.peak_reserved};
  Range oom{oom_position(row.outcome), oom_position(row.outcome)};
  if (row.is_recorded && row.outcome.events != workload.recording.events) {
    row.check = Check::differs;
    row.difference = difference_of(workload, row.outcome);
  }
  if (!row.is_recorded && depends_on_addresses(setup)) {
    setup.keep_events = setup.keep_curve = false;
    for (const Placement other : kTriedPlacements) {
      if (other == circumstances.placement) continue;
      setup.placement = other;
      const Outcome outcome = replay(workload, setup);
      widen(row.peak, outcome.peak_reserved);
      widen(oom, oom_position(outcome));
    }
    if (!row.peak.is_exact() || !oom.is_exact()) row.check = Check::range;
  }
  if (oom.low != cache::kUnlimited) row.oom_at = oom;
  if (!details) row.outcome.events.clear();
  return row;
}

Outcome moment_of(const Workload& workload, const Row& row, std::uint32_t operation) {
  Setup setup;
  setup.profile = row.profile;
  setup.limit = row.limit;
  setup.settings = *cache::parse_settings(row.conf, row.profile);
  setup.as_recorded = row.is_recorded;
  setup.last_operation = operation;
  setup.keep_segments = true;
  return replay(workload, setup);
}

}  // namespace ebb::replay
