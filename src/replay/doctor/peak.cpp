// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.h"
#include "replay/doctor/certificate.h"
#include "replay/doctor/counterfactual.h"
#include "replay/doctor/diagnosis_builder.h"
#include "replay/doctor/worthwhile.h"

namespace ebb::replay {
namespace {

using fact::FixKind;
using fact::Verdict;

/// What the job or its settings brought about, by how much less it holds without that; most first.
std::vector<Cause> self_inflicted(const DiagnosisBuilder& builder) {
  std::vector<Cause> causes;
  const std::uint64_t peak = builder.recorded.outcome.peak_reserved;
  for (const Verdict verdict :
       {Verdict::rounding, Verdict::oversize, Verdict::deferred_frees, Verdict::private_pools}) {
    const auto row = replay_without(builder.work, builder.recorded, builder.circumstances, verdict);
    if (!row || row->outcome.oom || row->outcome.peak_reserved >= peak) continue;
    causes.push_back({verdict, peak - row->outcome.peak_reserved});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
  return causes;
}

/// What empty_cache would return at the end and the last quarter of the job did not need.
std::uint64_t idle_at_end(const DiagnosisBuilder& builder) {
  Setup setup = builder.setup();
  setup.keep_segments = true;
  setup.keep_curve = true;
  const Outcome outcome = replay(builder.work, setup);
  std::uint64_t used = 0;
  for (const CurvePoint& point : outcome.curve) {
    if (point.requests >= outcome.requests - outcome.requests / 4) {
      used = std::max(used, point.allocated);
    }
  }
  const std::uint64_t unused = outcome.final_reserved > used ? outcome.final_reserved - used : 0;
  const Ledger end = ledger_of(outcome.segments, builder.settings, builder.recorded.profile);
  return std::min(unused, end.cached);
}

/// Nothing is wrong yet, but what is free will not be where it is needed.
void foretell_fragmentation(DiagnosisBuilder& builder) {
  SnapshotDiagnosis& diagnosis = builder.diagnosis;
  const ReservedGrowth& growth = *diagnosis.growth;
  builder.decide(Verdict::fragmentation, growth.without_live);
  diagnosis.headline = "Reserved memory goes on to grow from step to step, to " +
                       base::bytes_text(growth.to) + ", " + beside_live(growth);
  diagnosis.confidence = std::min(diagnosis.confidence, fact::Confidence::medium);
  diagnosis.fix.kind = FixKind::settings;
  diagnosis.fix.text = "ebb tune on this snapshot says which settings hold less as the job goes on";
}

}  // namespace

void explain_peak(DiagnosisBuilder& builder) {
  SnapshotDiagnosis& diagnosis = builder.diagnosis;
  const Ledger& ledger = diagnosis.ledger;
  const std::uint64_t idle = idle_at_end(builder);
  std::vector<Cause> causes = self_inflicted(builder);
  // At the peak also whole segments are no use to the request that made it.
  causes.push_back({Verdict::fragmentation, ledger.split_free + ledger.cached});
  causes.push_back({Verdict::cache, idle});
  const std::uint64_t peak = builder.recorded.outcome.peak_reserved;
  std::erase_if(causes, [&](const Cause& cause) { return !is_worthwhile(cause.bytes, peak); });
  for (const Cause& cause : causes) {
    diagnosis.also.push_back(cause.verdict);
  }
  builder.find_growth();
  builder.find_empty_cache();
  diagnosis.evidence = builder.ledger_evidence();
  if (builder.leak) {
    builder.decide(Verdict::leak, builder.leak->per_step);
    diagnosis.evidence =
        growth_certificate(*builder.leak, builder.snapshot, builder.device, builder.work);
    diagnosis.fix.kind = FixKind::code;
    diagnosis.fix.text = "Free what these places allocate in every step";
    return;
  }
  // Only what is held and not needed weighs more than time that is lost.
  const bool holds_too_much = !causes.empty() && causes.front().verdict != Verdict::cache;
  if (diagnosis.empty_cache.is_harmful() && !holds_too_much) {
    builder.decide(Verdict::empty_cache, diagnosis.empty_cache.retaken);
    diagnosis.fix.kind = FixKind::code;
    diagnosis.fix.text =
        "Take torch.cuda.empty_cache() out of the loop: PyTorch reuses its cache by itself";
    return;
  }
  if (causes.empty() && diagnosis.growth) return foretell_fragmentation(builder);
  if (causes.empty()) return builder.decide(Verdict::healthy, ledger.reserved - ledger.needed);
  builder.decide(causes.front().verdict, causes.front().bytes);
  if (diagnosis.verdict == Verdict::cache) {
    diagnosis.fix.kind = FixKind::code;
    diagnosis.fix.text = "torch.cuda.empty_cache() at the end of this history returns " +
                         base::bytes_text(idle) + " that nothing has used for a while";
    return;
  }
  builder.advise(
      fix_peak(builder.work, builder.recorded, builder.circumstances, diagnosis.verdict));
  if (diagnosis.fixed) diagnosis.evidence.set("row", to_json(*diagnosis.fixed));
}

}  // namespace ebb::replay
