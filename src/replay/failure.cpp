// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.h"
#include "cache/rounding.h"
#include "replay/certificate.h"
#include "replay/counterfactual.h"
#include "replay/examination.h"
#include "replay/fixes.h"

namespace ebb::replay {
namespace {

using base::bytes_text;

/// What the request asked for, and how much was missing.
struct Shortage {
  std::uint64_t piece = 0;    ///< bytes of the block
  std::uint64_t segment = 0;  ///< bytes of a new segment for it
  std::uint64_t missing_piece = 0;
  std::uint64_t missing_segment = 0;
  std::uint64_t room = 0;  ///< what the device had free beyond the limit; 0 if too little
};

Shortage shortage_of(const Examination& exam, const Operation& op) {
  const std::uint64_t bytes = std::clamp<std::uint64_t>(op.bytes, 1, cache::kAbsurdSize - 1);
  Shortage shortage;
  shortage.piece = cache::Rounding(exam.settings, exam.recorded.profile)(bytes);
  shortage.segment = cache::segment_size(shortage.piece, exam.settings.large_segment_size);
  const std::uint64_t limit = exam.recorded.limit;
  const auto missing = [&](std::uint64_t wanted) {
    wanted += exam.diagnosis.ledger.reserved;
    return wanted > limit ? wanted - limit : 0;
  };
  shortage.missing_piece = missing(shortage.piece);
  shortage.missing_segment = missing(shortage.segment);
  // What the device had says nothing about a card of another size.
  const Recording& recording = exam.work.recording;
  const bool same_card = recording.limit_low <= limit && limit < recording.limit_high;
  const bool is_recorded = exam.is_recorded_failure() && same_card;
  if (is_recorded && recording.largest_oom_free >= shortage.segment) {
    shortage.room = recording.largest_oom_free;
  }
  return shortage;
}

/// Whether the asker said it, or the recording shows it by how much the device had left.
bool limit_is_certain(const Examination& exam) {
  const std::uint64_t device_limit = exam.work.recording.device_limit;
  return exam.circumstances.limit || (device_limit != 0 && exam.recorded.limit == device_limit);
}

void describe(Examination& exam, const Operation& op, const Shortage& shortage) {
  exam.find("request of %s found no memory: %s reserved and %s more are above the limit of %s",
            bytes_text(op.bytes), bytes_text(exam.diagnosis.ledger.reserved),
            bytes_text(shortage.segment), bytes_text(exam.recorded.limit));
  if (shortage.room != 0) exam.find("the device itself had %s free", bytes_text(shortage.room));
  if (limit_is_certain(exam)) return;
  exam.find("the limit is not recorded: at least %s, below %s; --cap gives it",
            bytes_text(exam.work.recording.limit_low), bytes_text(exam.work.recording.limit_high));
  exam.diagnosis.confidence = "medium";
}

/// The causes that held enough for the request to be served, in order of precedence.
std::vector<Cause> sufficient_causes(const Examination& exam, const Operation& op,
                                     const Shortage& shortage) {
  std::vector<Cause> enough;
  for (Cause cause : causes_in(exam.diagnosis.ledger)) {
    const bool in_pieces = cause.verdict == Verdict::fragmentation;
    // The request itself was rounded too.
    if (cause.verdict == Verdict::rounding) {
      cause.bytes += shortage.piece - std::min(shortage.piece, Needs(exam.work)(op));
    }
    const std::uint64_t missing = in_pieces ? shortage.missing_piece : shortage.missing_segment;
    if (cause.bytes != 0 && cause.bytes >= missing) enough.push_back(cause);
  }
  return enough;
}

bool fits_without(const Examination& exam, Verdict cause) {
  const auto row = replay_without(exam.work, exam.recorded, exam.circumstances, cause);
  return row && !row->outcome.oom;
}

/// The first cause that held enough and without which the job fits.
void choose(Examination& exam, const std::vector<Cause>& enough, const Shortage& shortage) {
  for (const Cause& cause : enough) {
    if (cause.verdict == Verdict::fragmentation || fits_without(exam, cause.verdict)) {
      return exam.decide(cause.verdict, cause.bytes);
    }
  }
  if (!enough.empty()) {
    exam.diagnosis.confidence = "medium";
    return exam.decide(enough.front().verdict, enough.front().bytes);
  }
  // None held enough in the end; one may still have brought it about.
  const std::vector<Cause> causes = causes_in(exam.diagnosis.ledger);
  for (const Cause& cause : causes) {
    if (!fits_without(exam, cause.verdict)) continue;
    exam.diagnosis.confidence = "medium";
    return exam.decide(cause.verdict, cause.bytes);
  }
  if (shortage.room != 0) return exam.decide(Verdict::self_limit, shortage.missing_segment);
  exam.diagnosis.confidence = "low";
  const auto largest =
      std::max_element(causes.begin(), causes.end(),
                       [](const Cause& a, const Cause& b) { return a.bytes < b.bytes; });
  exam.decide(largest->verdict, largest->bytes);
}

}  // namespace

void explain_failure(Examination& exam) {
  const Operation& op = exam.work.operations[exam.diagnosis.operation];
  Diagnosis& diagnosis = exam.diagnosis;
  const Shortage shortage = shortage_of(exam, op);
  describe(exam, op, shortage);
  const std::vector<Cause> enough = sufficient_causes(exam, op, shortage);
  for (const Cause& cause : enough) {
    diagnosis.also.push_back(cause.verdict);
  }
  if (shortage.room != 0) diagnosis.also.push_back(Verdict::self_limit);
  if (exam.leak) diagnosis.also.push_back(Verdict::leak);
  if (exam.bound.live > exam.recorded.limit) {
    exam.decide(Verdict::capacity, exam.bound.live - exam.recorded.limit);
    // What is live is known whatever a replay says, and may be above every limit there can be.
    const bool proven = limit_is_certain(exam) || exam.bound.live >= exam.work.recording.limit_high;
    diagnosis.confidence = proven ? "high" : "medium";
    diagnosis.evidence = live_set_certificate(exam.work, exam.bound, exam.recorded.limit);
    diagnosis.fix = fix_capacity(exam.work, exam.recorded, exam.circumstances, exam.bound);
    return;
  }
  choose(exam, enough, shortage);
  diagnosis.fix =
      fix_failure(exam.work, exam.recorded, exam.circumstances, diagnosis.verdict, shortage.room);
  diagnosis.evidence = failure_certificate(exam.work, exam.recorded, exam.circumstances,
                                           diagnosis.verdict, exam.bound, diagnosis.fix);
  if (diagnosis.evidence.is_null()) {
    diagnosis.evidence = exam.ledger_evidence();
  }
}

}  // namespace ebb::replay
