// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fact/ledger.h"
#include "metrics/families.h"
#include "story/run_story.h"

namespace ebb::metrics {

/// What is known now of one run that goes on, out of its record piece by piece.
class RunWatch {
 public:
  /// Begins with what was recorded from this second of the run on.
  explicit RunWatch(double recent_from) : recent_from_(recent_from) {}

  /// Takes in what was recorded from recent_from() on. Pieces may overlap.
  void take(const record::RecordedRun& recent);
  /// The next piece begins here, in seconds of the run.
  double recent_from() const { return recent_from_; }

  /// Takes over what a whole record means.
  void judge(const record::RecordedRun& whole);

  /// Adds what is known at `unix_seconds`. What was read too long ago is not.
  void add_to(Families& families, double unix_seconds) const;

 private:
  struct ProcessNow {
    std::int64_t number = 0;
    record::Process about;
    record::Reading last;
    std::optional<std::uint64_t> proportional;
    fact::Ledger ledger;
    double ledger_seconds = 0;
    keep::CleanupSum cleanups;
  };
  struct Judgement {
    fact::Verdict verdict = fact::Verdict::not_enough_data;
    std::optional<double> growth;
    std::optional<double> until_limit;
  };

  void take_readings(const record::RecordedRun& recent, const record::ProcessHistory& history);
  void add_place(Families& families, const Labels& run) const;
  void add_devices(Families& families, const Labels& run, double since) const;
  void add_process(Families& families, const Labels& labels, const ProcessNow& process,
                   double seconds) const;

  record::RunSummary summary_;
  std::optional<record::PlaceSample> place_;
  std::map<record::ProcessKey, ProcessNow> processes_;
  std::vector<record::DeviceSample> devices_;
  std::map<record::ProcessKey, Judgement> judged_;
  std::optional<fact::Verdict> verdict_;
  double recent_from_;
  double sampled_ = 0;
};

}  // namespace ebb::metrics
