// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.h"
#include "replay/certificate.h"
#include "replay/counterfactual.h"
#include "replay/examination.h"
#include "replay/fixes.h"

namespace ebb::replay {
namespace {

/// Less than this share of the peak, and less than this many bytes, is nothing to act on.
constexpr double kWorthwhile = 0.10;
constexpr std::uint64_t kLeastBytes = 2 * base::kMiB;

bool is_worthwhile(const Examination& exam, std::uint64_t bytes) {
  const auto peak = static_cast<double>(exam.recorded.outcome.peak_reserved);
  return bytes >= kLeastBytes && static_cast<double>(bytes) >= kWorthwhile * peak;
}

/// What the job or its settings brought about, by how much less it holds without that; most first.
std::vector<Cause> self_inflicted(const Examination& exam) {
  std::vector<Cause> causes;
  const std::uint64_t peak = exam.recorded.outcome.peak_reserved;
  for (const Verdict verdict :
       {Verdict::rounding, Verdict::oversize, Verdict::deferred_frees, Verdict::private_pools}) {
    const auto row = replay_without(exam.work, exam.recorded, exam.circumstances, verdict);
    if (!row || row->outcome.oom || row->outcome.peak_reserved >= peak) continue;
    causes.push_back({verdict, peak - row->outcome.peak_reserved});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
  return causes;
}

/// What empty_cache would return at the end and the last quarter of the job did not need.
std::uint64_t idle_at_end(const Examination& exam) {
  Setup setup = exam.setup();
  setup.keep_segments = true;
  setup.keep_curve = true;
  const Outcome outcome = replay(exam.work, setup);
  std::uint64_t used = 0;
  for (const CurvePoint& point : outcome.curve) {
    if (point.requests >= outcome.requests - outcome.requests / 4) {
      used = std::max(used, point.allocated);
    }
  }
  const std::uint64_t unused = outcome.final_reserved > used ? outcome.final_reserved - used : 0;
  const Ledger end = ledger_of(outcome.segments, exam.settings, exam.recorded.profile);
  return std::min(unused, end.cached);
}

}  // namespace

void explain_peak(Examination& exam) {
  Diagnosis& diagnosis = exam.diagnosis;
  const Ledger& ledger = diagnosis.ledger;
  const std::uint64_t idle = idle_at_end(exam);
  std::vector<Cause> causes = self_inflicted(exam);
  // At the peak also whole segments are no use to the request that made it.
  causes.push_back({Verdict::fragmentation, ledger.split_free + ledger.cached});
  causes.push_back({Verdict::cache, idle});
  std::erase_if(causes, [&](const Cause& cause) { return !is_worthwhile(exam, cause.bytes); });
  for (const Cause& cause : causes) {
    diagnosis.also.push_back(cause.verdict);
  }
  diagnosis.evidence = exam.ledger_evidence();
  if (exam.leak) {
    exam.decide(Verdict::leak, exam.leak->per_step);
    diagnosis.evidence = growth_certificate(*exam.leak, exam.snapshot, exam.device, exam.work);
    diagnosis.fix.kind = "code";
    diagnosis.fix.text = "Free what these places allocate in every step";
    return;
  }
  if (causes.empty()) return exam.decide(Verdict::healthy, ledger.reserved - ledger.needed);
  exam.decide(causes.front().verdict, causes.front().bytes);
  if (diagnosis.verdict == Verdict::cache) {
    diagnosis.fix.kind = "code";
    diagnosis.fix.text = "torch.cuda.empty_cache() at the end of this history returns " +
                         base::bytes_text(idle) + " that nothing has used for a while";
    return;
  }
  diagnosis.fix = fix_peak(exam.work, exam.recorded, exam.circumstances, diagnosis.verdict);
  if (diagnosis.fix.row) diagnosis.evidence.set("row", to_json(*diagnosis.fix.row));
}

}  // namespace ebb::replay
