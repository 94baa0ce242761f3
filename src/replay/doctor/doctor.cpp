// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/doctor.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/plain_text.h"
#include "replay/doctor/diagnosis_builder.h"
#include "replay/doctor/segments_diagnosis.h"
#include "replay/doctor/step_growth.h"

namespace ebb::replay {
namespace {

/// The job under its own settings. If the limit is not given, one under which the recorded requests
/// fail and succeed as they did, if there is any.
base::Result<Row> recorded_row(const Workload& work, const Circumstances& circumstances) {
  const Recording& recording = work.recording;
  auto row = forecast(work, recording.conf, circumstances, false);
  const bool open = !circumstances.limit && recording.limit_low < recording.limit_high &&
                    recording.limit_high != cache::kUnlimited;
  if (!row || !open || row->check == Check::exact) return row;
  Circumstances trial = circumstances;
  const std::uint64_t highest = recording.limit_high - 1;
  const std::uint64_t peak = std::clamp(recording.peak_reserved, recording.limit_low, highest);
  for (const std::uint64_t limit : {peak, peak + (highest - peak) / 2, highest}) {
    trial.limit = limit;
    auto other = forecast(work, recording.conf, trial, false);
    if (other && other->check == Check::exact) return other;
  }
  return row;
}

/// The request that ended the job: the last that failed in the recording, also where a replay
/// cannot tell why; or the first that fails under other circumstances.
std::optional<std::uint32_t> failed_operation(const Workload& work, const Row& row) {
  const std::optional<OutOfMemory>& oom = row.outcome.oom;
  if (!row.is_recorded || (oom && !oom->recorded)) {
    return oom ? std::optional(oom->operation) : std::nullopt;
  }
  for (std::size_t i = work.operations.size(); i-- > 0;) {
    if (work.operations[i].kind == Operation::Kind::failed) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

/// The blocks that the verdict is about.
std::vector<Lifetime> suspects(const DiagnosisBuilder& builder) {
  if (builder.diagnosis.verdict == fact::Verdict::leak) return builder.leak->blocks;
  const bool too_much = builder.diagnosis.verdict == fact::Verdict::capacity;
  std::vector<Lifetime> live = live_at(
      lifetimes_of(builder.work), too_much ? builder.bound.operation : builder.diagnosis.operation);
  std::erase_if(live, [](const Lifetime& life) { return life.failed; });
  return live;
}

/// Who held what at the moment that the verdict is about.
DeviceSites sites_then(const DiagnosisBuilder& builder, bool has_failed) {
  HeldAt at = has_failed ? HeldAt::failure : HeldAt::peak;
  std::uint32_t operation = builder.diagnosis.operation;
  if (builder.diagnosis.verdict == fact::Verdict::leak) {
    at = HeldAt::end;
    operation = std::max(end_of_job(builder.work), 1U) - 1;
  } else if (builder.diagnosis.verdict == fact::Verdict::capacity &&
             operation != builder.bound.operation) {
    at = HeldAt::peak;
    operation = builder.bound.operation;
  }
  return device_sites(builder.snapshot, builder.device, builder.work, at, operation);
}

/// Less than this of a leak is not what to look at.
constexpr double kMostOfIt = 0.5;

/// Of a leak, the line that most of it is from.
void name_the_place(SnapshotDiagnosis& diagnosis) {
  if (diagnosis.verdict != fact::Verdict::leak) return;
  const auto place = diagnosis.sites.growing_place();
  if (!place) return;
  const std::string pace = base::signed_bytes_text(std::llround(place->per_step)) + "/step";
  const std::string line = base::plain_line(place->text);
  diagnosis.headline += base::format_text("; %s at %s, %.0f %% of the growth", pace.c_str(),
                                          line.c_str(), 100 * place->share);
  if (place->share >= kMostOfIt)
    diagnosis.fix.text = "Look at what " + line + " allocates and nothing frees";
}

}  // namespace

base::Result<SnapshotDiagnosis> diagnose(const trace::Snapshot& snapshot, int device,
                                         const Workload& workload,
                                         const Circumstances& circumstances) {
  if (history_of(snapshot, device).empty()) return diagnose_segments(snapshot, device, workload);
  auto recorded = recorded_row(workload, circumstances);
  if (!recorded) return recorded.error();
  const auto failed = failed_operation(workload, *recorded);
  DiagnosisBuilder builder(snapshot, device, workload, circumstances, std::move(*recorded));
  builder.look_at(failed.value_or(builder.recorded.outcome.peak_operation));
  failed ? explain_failure(builder) : explain_peak(builder);
  builder.diagnosis.origins = origins_of(snapshot, device, workload, suspects(builder));
  builder.diagnosis.sites = sites_then(builder, failed.has_value());
  name_the_place(builder.diagnosis);
  return std::move(builder.diagnosis);
}

DiagnosisReplays replays_of(const SnapshotDiagnosis& diagnosis, const Workload& workload,
                            const Circumstances& circumstances) {
  DiagnosisReplays replays;
  const auto add = [&](const std::string& conf, const Circumstances& under) {
    if (auto row = forecast(workload, conf, under, true)) replays.rows.push_back(*std::move(row));
  };
  add(workload.recording.conf, circumstances);
  if (diagnosis.fixed) {
    Circumstances fixed = circumstances;
    fixed.limit = diagnosis.fixed->limit;
    add(diagnosis.fixed->conf, fixed);
  }
  if (!replays.rows.empty())
    replays.moment = moment_of(workload, replays.rows.front(), diagnosis.operation);
  return replays;
}

}  // namespace ebb::replay
