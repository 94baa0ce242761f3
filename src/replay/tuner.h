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
#include "replay/knobs.h"

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

/// What came out of a search.
struct TuneResult {
  Knobs knobs;
  std::vector<Row> best;               ///< one per job
  std::vector<std::vector<Row>> rows;  ///< the best and others to compare with, ranked; per job
  std::vector<Row> recorded;           ///< one per job; the default where the release refuses it
  std::vector<std::uint64_t> lower_bound;  ///< most live bytes, per job
  std::vector<std::uint64_t> packing;      ///< best offline packing found, per job
  std::string variable;                    ///< the environment variable to put it in
  std::uint64_t tried = 0;                 ///< settings replayed
  bool proven = false;                     ///< nothing can hold less, under any settings
};

/// Searches for the one string that suits all jobs best. Deterministic; uses all cores.
/// Requires: at least one job.
base::Result<TuneResult> tune(const std::vector<const Workload*>& jobs, const TuneOptions& options);

/// The keys best, rows, recorded, lower_bound_bytes, offline_packing_bytes of one job.
base::Json to_json(const TuneResult& result, std::size_t job);

}  // namespace ebb::replay
