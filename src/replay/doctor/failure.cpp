// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.h"
#include "cache/rounding.h"
#include "replay/doctor/certificate.h"
#include "replay/doctor/counterfactual.h"
#include "replay/doctor/diagnosis_builder.h"
#include "replay/doctor/live_shortage.h"

namespace ebb::replay {
namespace {

using base::bytes_text;
using fact::Confidence;
using fact::Verdict;

/// What the request asked for, and how much was missing.
struct Shortage {
  std::uint64_t piece = 0;    ///< bytes of the block
  std::uint64_t segment = 0;  ///< bytes of a new segment for it
  std::uint64_t missing_piece = 0;
  std::uint64_t missing_segment = 0;
  std::uint64_t room = 0;  ///< what the device had free beyond the limit; 0 if too little
};

Shortage shortage_of(const DiagnosisBuilder& builder, const Operation& op) {
  const std::uint64_t bytes = std::clamp<std::uint64_t>(op.bytes, 1, cache::kAbsurdSize - 1);
  Shortage shortage;
  shortage.piece = cache::Rounding(builder.settings, builder.recorded.profile)(bytes);
  shortage.segment = cache::segment_size(shortage.piece, builder.settings.large_segment_size);
  const std::uint64_t limit = builder.recorded.limit;
  const auto missing = [&](std::uint64_t wanted) {
    wanted += builder.diagnosis.ledger.reserved;
    return wanted > limit ? wanted - limit : 0;
  };
  shortage.missing_piece = missing(shortage.piece);
  shortage.missing_segment = missing(shortage.segment);
  // What the device had says nothing about a card of another size.
  const Recording& recording = builder.work.recording;
  const bool same_card = recording.limit_low <= limit && limit < recording.limit_high;
  const bool is_recorded = builder.is_recorded_failure() && same_card;
  if (is_recorded && recording.largest_oom_free >= shortage.segment) {
    shortage.room = recording.largest_oom_free;
  }
  return shortage;
}

/// Whether the asker said it, or the recording shows it by how much the device had left.
bool limit_is_certain(const DiagnosisBuilder& builder) {
  const std::uint64_t device_limit = builder.work.recording.device_limit;
  return builder.circumstances.limit ||
         (device_limit != 0 && builder.recorded.limit == device_limit);
}

void describe(DiagnosisBuilder& builder, const Operation& op, const Shortage& shortage) {
  builder.find("request of %s found no memory: %s reserved and %s more are above the limit of %s",
               bytes_text(op.bytes), bytes_text(builder.diagnosis.ledger.reserved),
               bytes_text(shortage.segment), bytes_text(builder.recorded.limit));
  if (shortage.room != 0) builder.find("the device itself had %s free", bytes_text(shortage.room));
  if (limit_is_certain(builder)) return;
  builder.find("the limit is not recorded: at least %s, below %s; --cap gives it",
               bytes_text(builder.work.recording.limit_low),
               bytes_text(builder.work.recording.limit_high));
  builder.diagnosis.confidence = Confidence::medium;
}

/// What others held of the card when the request failed, if it had been served without them; else
/// 0.
std::uint64_t held_by_others(const DiagnosisBuilder& builder, const Shortage& shortage) {
  const Recording& recording = builder.work.recording;
  const auto& card = builder.circumstances.card;
  // What the device had for this process, all of it: a job that limits itself does not show that.
  if (!card || recording.device_limit == 0 || !builder.is_recorded_failure()) return 0;
  if (*card <= recording.device_limit + kOfCudaItself) return 0;
  const std::uint64_t needed = builder.diagnosis.ledger.reserved + shortage.segment + kOfCudaItself;
  return needed <= *card ? *card - recording.device_limit : 0;
}

/// The causes that held enough for the request to be served, in order of precedence.
std::vector<Cause> sufficient_causes(const DiagnosisBuilder& builder, const Operation& op,
                                     const Shortage& shortage) {
  std::vector<Cause> enough;
  for (Cause cause : causes_in(builder.diagnosis.ledger)) {
    const bool in_pieces = cause.verdict == Verdict::fragmentation;
    // The request itself was rounded too.
    if (cause.verdict == Verdict::rounding) {
      cause.bytes += shortage.piece - std::min(shortage.piece, Needs(builder.work)(op));
    }
    const std::uint64_t missing = in_pieces ? shortage.missing_piece : shortage.missing_segment;
    if (cause.bytes != 0 && cause.bytes >= missing) enough.push_back(cause);
  }
  return enough;
}

bool fits_without(const DiagnosisBuilder& builder, Verdict cause) {
  const auto row = replay_without(builder.work, builder.recorded, builder.circumstances, cause);
  return row && !row->outcome.oom;
}

/// The first cause that held enough and without which the job fits.
void choose(DiagnosisBuilder& builder, const std::vector<Cause>& enough, const Shortage& shortage) {
  for (const Cause& cause : enough) {
    if (cause.verdict == Verdict::fragmentation || fits_without(builder, cause.verdict)) {
      return builder.decide(cause.verdict, cause.bytes);
    }
  }
  if (!enough.empty()) {
    builder.diagnosis.confidence = Confidence::medium;
    return builder.decide(enough.front().verdict, enough.front().bytes);
  }
  // None held enough in the end; one may still have brought it about.
  const std::vector<Cause> causes = causes_in(builder.diagnosis.ledger);
  for (const Cause& cause : causes) {
    if (!fits_without(builder, cause.verdict)) continue;
    builder.diagnosis.confidence = Confidence::medium;
    return builder.decide(cause.verdict, cause.bytes);
  }
  if (shortage.room != 0) return builder.decide(Verdict::self_limit, shortage.missing_segment);
  builder.diagnosis.confidence = Confidence::low;
  const auto largest =
      std::max_element(causes.begin(), causes.end(),
                       [](const Cause& a, const Cause& b) { return a.bytes < b.bytes; });
  builder.decide(largest->verdict, largest->bytes);
}

}  // namespace

void explain_failure(DiagnosisBuilder& builder) {
  const Operation& op = builder.work.operations[builder.diagnosis.operation];
  SnapshotDiagnosis& diagnosis = builder.diagnosis;
  const Shortage shortage = shortage_of(builder, op);
  describe(builder, op, shortage);
  const std::vector<Cause> enough = sufficient_causes(builder, op, shortage);
  for (const Cause& cause : enough) {
    diagnosis.also.push_back(cause.verdict);
  }
  if (shortage.room != 0) diagnosis.also.push_back(Verdict::self_limit);
  if (builder.leak) diagnosis.also.push_back(Verdict::leak);
  builder.find_empty_cache();
  const std::uint64_t others = held_by_others(builder, shortage);
  if (others != 0 && !enough.empty()) diagnosis.also.push_back(Verdict::other_process);
  if (others != 0 && enough.empty()) {
    builder.diagnosis.confidence = Confidence::medium;
    builder.decide(Verdict::other_process, others);
    diagnosis.fix.kind = fact::FixKind::memory;
    diagnosis.fix.text = "End the others, or give this job a card of its own";
    diagnosis.evidence = builder.ledger_evidence();
    return;
  }
  if (builder.bound.live > builder.recorded.limit) {
    builder.decide(Verdict::capacity, builder.bound.live - builder.recorded.limit);
    // What is live is known whatever a replay says, and may be above every limit there can be.
    const bool proven =
        limit_is_certain(builder) || builder.bound.live >= builder.work.recording.limit_high;
    diagnosis.confidence = proven ? Confidence::high : Confidence::medium;
    diagnosis.evidence = live_set_certificate(builder.work, builder.bound, builder.recorded.limit);
    builder.advise(
        fix_capacity(builder.work, builder.recorded, builder.circumstances, builder.bound));
    return;
  }
  choose(builder, enough, shortage);
  builder.advise(fix_failure(builder.work, builder.recorded, builder.circumstances,
                             diagnosis.verdict, shortage.room));
  diagnosis.evidence = failure_certificate(builder.work, builder.recorded, builder.circumstances,
                                           diagnosis.verdict, builder.bound, diagnosis.fixed);
  if (diagnosis.evidence.is_null()) {
    diagnosis.evidence = builder.ledger_evidence();
  }
}

}  // namespace ebb::replay
