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
#include "replay/tune/knobs.h"

namespace ebb::replay {

/// What is best.
enum class Objective : std::uint8_t {
  memory,    ///< least reserved, then fewest settings, then least time in driver calls
  calls,     ///< least time in driver calls, then fewest settings, then least reserved
  balanced,  ///< a share of the job's time in driver calls weighs as much as that share of memory
};
base::Result<Objective> parse_objective(std::string_view name);

struct TuneOptions {
  Objective objective = Objective::memory;
  Circumstances circumstances;
  std::optional<SearchSpace> space;  ///< unset: all that matters to these jobs
  bool refine = true;  ///< go on from the best combination with lists and finer values
  std::function<void(double share)> progress = {};
};

/// What a search found for one of the jobs.
struct TunedJob {
  Row best;
  Row recorded;                   ///< the default where the release refuses the recorded settings
  std::vector<Row> rows;          ///< the best and others to compare with, ranked
  std::uint64_t lower_bound = 0;  ///< most live bytes
  std::uint64_t packing = 0;      ///< best offline packing found
};

/// What came out of a search.
struct TuneResult {
  Knobs knobs;
  std::vector<TunedJob> jobs;  ///< in the order in which they were given
  std::string variable;        ///< the environment variable to put it in
  std::uint64_t tried = 0;     ///< settings replayed
  bool proven = false;         ///< nothing can hold less, under any settings
};

/// Searches for the one string that suits all jobs best. Deterministic; uses all cores.
/// Requires: at least one job.
base::Result<TuneResult> tune(const std::vector<const Workload*>& jobs, const TuneOptions& options);

/// What was found for one of the result's jobs: the keys variable, best, rows, recorded,
/// lower_bound_bytes, offline_packing_bytes, settings_tried, proven.
base::Json to_json(const TuneResult& result, const TunedJob& job);

}  // namespace ebb::replay
