// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.h"
#include "replay/doctor/doctor.h"
#include "replay/doctor/fixes.h"
#include "replay/doctor/leak.h"
#include "replay/lifetimes.h"

namespace ebb::replay {

/// What one reason for held memory amounts to.
struct Cause {
  fact::Verdict verdict;
  std::uint64_t bytes;
};

/// What each cause holds, in order of precedence.
std::vector<Cause> causes_in(const Ledger& ledger);

/// What the ledger says, a line for each part that counts.
std::vector<std::string> findings_on(const Ledger& ledger);

/// The verdict as a sentence; `bytes` is what it is about.
std::string headline_of(fact::Verdict verdict, std::uint64_t bytes);

/// A diagnosis in the making: the job as recorded, the moment looked at, and what has been found so
/// far. For one thread; what it is made of outlives it.
class DiagnosisBuilder {
 public:
  /// `row` is the job under the recorded settings; they are known to be good.
  DiagnosisBuilder(const trace::Snapshot& from, int of_device, const Workload& job,
                   const Circumstances& under, Row row);

  /// The setup of `recorded`.
  Setup setup() const;
  /// Turns to the moment just after an operation: its ledger and the findings on it.
  void look_at(std::uint32_t operation);

  /// Where the job empties its cache in a loop: that, among the other verdicts, and what it costs.
  void find_empty_cache();

  /// Where reserved memory goes on to grow though live memory does not: that, and until when.
  void find_growth();

  /// The certificate of what is held at that moment.
  base::Json ledger_evidence() const;
  /// Whether the request looked at failed in the recording too.
  bool is_recorded_failure() const {
    return work.operations[diagnosis.operation].kind == Operation::Kind::failed;
  }

  template <class... Text>
  void find(const char* format, const Text&... values) {
    diagnosis.findings.push_back(base::format_text(format, values.c_str()...));
  }
  /// `bytes` is what the verdict is about.
  void decide(fact::Verdict verdict, std::uint64_t bytes);
  void advise(TestedFix tested);

  const trace::Snapshot& snapshot;
  const int device;
  const Workload& work;
  const Circumstances& circumstances;
  const Row recorded;
  const cache::Settings settings;
  const LowerBound bound;
  const std::optional<Leak> leak;
  SnapshotDiagnosis diagnosis;
};

/// Why a request failed, at the moment looked at.
void explain_failure(DiagnosisBuilder& builder);

/// Why the job holds what it holds, where every request was served.
void explain_peak(DiagnosisBuilder& builder);

}  // namespace ebb::replay
