// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replay/forecast.h"
#include "replay/tune/foresight.h"
#include "replay/tune/futures.h"
#include "replay/tune/objective.h"

namespace ebb::replay {

/// What came of one setting in one future.
struct Prospect {
  std::uint64_t peak = 0;  ///< reserved
  double cost = 0;         ///< by the objective; the smaller the better
  bool out_of_memory = false;
};

/// One future of one of the jobs.
struct Scenario {
  std::size_t job = 0;
  std::uint64_t number = 0;
  Source source = Source::repeated;
  bool held_out = false;   ///< not for choosing, but for checking what was chosen
  bool recorded = false;   ///< no future: the recording itself
  bool stretched = false;  ///< no future either: a trial with other sizes
};

/// What may come of some recorded jobs. Which futures, and how far they go, follows from the
/// recordings alone, so that the same files give the same answer on every machine.
class Outlook {
 public:
  Outlook(const std::vector<const Workload*>& jobs, Objective objective,
          const Circumstances& circumstances);

  const std::vector<Scenario>& scenarios() const { return scenarios_; }
  /// What an advantage has to survive beside futures: the recordings themselves, and trials with
  /// sizes that are not quite the recorded ones.
  std::vector<Scenario> trials() const;
  /// All jobs repeat themselves: what suits their steps suits what comes.
  bool repeats() const;
  /// Some job has a limit: then what serves every request comes before what holds least.
  bool is_limited() const;
  /// Steps of some job differ.
  bool varies() const;
  /// Recorded steps that may happen again, of the job with the fewest.
  std::size_t fewest_steps() const;
  /// How often it was seen what the job holds at most: recorded steps that may happen again and at
  /// whose peak as much was live, to a thousandth, as at any time; of the job with the fewest.
  std::size_t fewest_peaks() const;
  /// Steps of the job's futures.
  std::uint64_t steps_ahead(std::size_t job) const { return steps_ahead_[job]; }

  /// What comes of each of these settings in a future; uses all cores. Settings that the release
  /// refuses have no answer.
  std::vector<std::optional<Prospect>> try_all(const Scenario& which,
                                               const std::vector<std::string>& confs) const;

  /// One setting in a future, to the end or until memory runs out, on a card with this limit; with
  /// the ends of the steps. Requires: settings that the release accepts.
  Outcome run(const Scenario& which, const std::string& conf, std::uint64_t limit) const;

  /// Most bytes that are live in any of the job's futures.
  std::uint64_t most_live(std::size_t job) const;

  /// What comes of each of these settings as the job goes on, for as long as it takes to tell.
  /// Settings that the release of the first job refuses have no answer. `between` as in foresee().
  std::vector<std::optional<Foresight>> foresee(
      std::size_t job, const std::vector<std::string>& confs,
      const std::function<void(double share)>& between) const;
  /// Whether the job goes on to grow under these settings on any card, as a rule. Requires:
  /// settings that the release accepts.
  bool grows_without_limit(std::size_t job, const std::string& conf,
                           const std::function<void(double share)>& between) const;

 private:
  Setup setup_for(std::size_t job, const cache::Settings& settings) const;
  Future future_of(const Scenario& which) const;
  std::uint64_t horizon_of(std::size_t job) const;

  std::vector<const Workload*> jobs_;
  Objective objective_;
  Circumstances circumstances_;
  cache::VersionProfile profile_;
  std::vector<FutureMaker> makers_;
  std::vector<std::uint64_t> horizons_;     ///< operations of a future, by job
  std::vector<std::uint64_t> steps_ahead_;  ///< by job
  std::vector<Scenario> scenarios_;
};

}  // namespace ebb::replay
