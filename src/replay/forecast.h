// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "replay/replayer.h"

namespace ebb::replay {

/// The circumstances of a forecast; what is unset is taken from the recording.
struct Circumstances {
  std::optional<cache::VersionProfile> profile;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> card;  ///< what the device has in all, others' share included
  Placement placement = Placement::recorded;
};

/// A value, or the range it was found to lie in.
struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool is_exact() const { return low == high; }
};

/// What a row's numbers can be held against.
enum class Check : std::uint8_t {
  exact,    ///< as recorded; where nothing was, the same wherever the driver puts segments
  range,    ///< differs from placement to placement
  differs,  ///< the recorded settings came out otherwise than recorded
  altered,  ///< of another job than the recorded one
};

/// One setting and what comes of it.
struct Row {
  std::string conf;
  cache::VersionProfile profile;
  std::uint64_t limit = cache::kUnlimited;
  Outcome outcome;
  /// Of the peak reserved, over several placements of segments where addresses decide ties.
  Range peak;
  /// Of the first out of memory, in requests before it; `high` is kUnlimited where a placement runs
  /// to the end.
  std::optional<Range> oom_at;
  bool is_recorded = false;  ///< the recorded settings: `check` compares with the recording
  Check check = Check::exact;
  std::string difference;  ///< in words, where the check is `differs` or `altered`
};

/// "exact", "range", or the difference: what tables and JSON say.
std::string check_text(const Row& row);

/// What is taken from the recording where the circumstances leave it open.
cache::VersionProfile profile_for(const Workload& workload, const Circumstances& circumstances);
/// Where nobody says it and the recording never had too little, no limit; else what the device had,
/// or the largest that the recording is known to have had.
std::uint64_t limit_for(const Workload& workload, const Circumstances& circumstances);

/// Replays the workload under a settings string. `details` also keeps events and the curve.
base::Result<Row> forecast(const Workload& workload, const std::string& conf,
                           const Circumstances& circumstances, bool details);

/// What lies where under a row's settings just after an operation: the outcome holds segments and
/// addresses. Requires: `row` is a forecast of this workload.
Outcome moment_of(const Workload& workload, const Row& row, std::uint32_t operation);

/// The keys: conf, peak_reserved_bytes, peak_allocated_bytes, …, segment_events, memory_stats, oom.
base::Json to_json(const Row& row);
/// What the recording is: devices, events, settings, peaks, notes.
base::Json to_json(const Workload& workload);

}  // namespace ebb::replay
