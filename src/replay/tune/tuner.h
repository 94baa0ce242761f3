// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "replay/forecast.h"
#include "replay/tune/card.h"
#include "replay/tune/choice.h"
#include "replay/tune/knobs.h"
#include "replay/tune/objective.h"

namespace ebb::replay {

struct TuneOptions {
  Objective objective = Objective::memory;
  Circumstances circumstances;
  std::optional<SearchSpace> space;  ///< unset: all that matters to these jobs
  bool refine = true;    ///< go on from the best combination with lists and finer values
  bool quick = false;    ///< fit what was recorded, without a look at what may come
  bool foretell = true;  ///< say what comes of the answer, beside the answer itself
  std::vector<std::string> without;  ///< keys that must not be set
  std::function<void(double share)> progress = {};
  /// Asked now and then, on the calling thread: once it says so, the search ends without a result.
  std::function<bool()> stops = {};
};

/// What a search found for one of the jobs.
struct TunedJob {
  Row best;
  Row recorded;                   ///< the default where the recorded settings are refused
  bool recorded_refused = false;  ///< the release does not know them, or replay cannot follow them
  std::vector<Row> rows;          ///< the best and others to compare with, ranked
  std::uint64_t lower_bound = 0;  ///< most live bytes
  std::uint64_t least_possible = 0;            ///< what any settings hold at least
  std::uint64_t packing = 0;                   ///< best offline packing found
  std::optional<Foresight> later;              ///< of the best; where it was to be foretold
  std::optional<Foresight> later_by_default;   ///< of PyTorch's default
  std::optional<Foresight> later_as_recorded;  ///< of the recorded settings, unless refused
  /// Memory goes on to grow as a rule, also without the limit; asked where there is one.
  bool grows_on_any_card = false;
  std::optional<SmallestCard> card;  ///< where there is a limit and growth stops
};

/// The futures that an answer was chosen by.
struct FuturesTried {
  std::vector<Source> sources;  ///< one each, those held out as well
  std::uint64_t held_out = 0;
  std::uint64_t steps = 0;      ///< of the longest
  bool repeats = true;          ///< every job has steps that it repeats
  bool only_baselines = false;  ///< too little was recorded to trust a longer string to
  double regret = 1;
  std::optional<double> held_out_regret;
};

/// What came out of a search.
struct TuneResult {
  Knobs knobs;
  std::vector<TunedJob> jobs;  ///< in the order in which they were given
  std::string variable;        ///< the environment variable to put it in
  std::uint64_t tried = 0;     ///< settings replayed
  bool proven = false;         ///< nothing can hold less of what was recorded, under any settings
  std::optional<FuturesTried> futures;  ///< nothing after a quick search
};

/// Searches for the one string that suits all jobs best as they go on, or as they were recorded
/// where the search is to be quick. Deterministic; uses all cores. Code::bad_input for a key in
/// `without` that there is not, Code::unavailable where it was stopped. Requires: at least one job.
base::Result<TuneResult> tune(const std::vector<const Workload*>& jobs, const TuneOptions& options);

/// What was found for one of the result's jobs: the keys variable, best, rows, recorded,
/// lower_bound_bytes, offline_packing_bytes, settings_tried, proven; futures, later,
/// later_by_default, later_as_recorded, regret and growth unless the search was quick; card where
/// there is a limit.
base::Json to_json(const TuneResult& result, const TunedJob& job);

}  // namespace ebb::replay
