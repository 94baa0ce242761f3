// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/tuner.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "replay/lifetimes.h"
#include "replay/parallel.h"
#include "replay/tune/packing.h"

namespace ebb::replay {
namespace {

/// How one setting does for all jobs; the smaller the better.
struct Score {
  std::uint64_t failures = 0;  ///< jobs that run out of memory where the recording did not
  double primary = 0;
  int settings = 0;  ///< of two that do as well, the simpler one
  double secondary = 0;

  auto key() const { return std::tie(failures, primary, settings, secondary); }
  friend bool operator<(const Score& a, const Score& b) { return a.key() < b.key(); }
};

struct Trial {
  Knobs knobs;
  Score score;
  std::uint64_t peak = 0;  ///< the largest of all jobs
  bool complete = false;
};

/// Replays settings in batches. What a batch may abandon is decided before it starts, so that the
/// result does not depend on which thread is faster.
class Search {
 public:
  Search(const std::vector<const Workload*>& jobs, const TuneOptions& options)
      : jobs_(jobs), options_(options), profile_(profile_for(*jobs[0], options.circumstances)) {
    for (const Workload* job : jobs) {
      limits_.push_back(limit_for(*job, options.circumstances));
      bounds_.push_back(lower_bound_of(*job));
    }
  }

  const cache::VersionProfile& profile() const { return profile_; }
  bool is_limited() const {
    return std::any_of(limits_.begin(), limits_.end(),
                       [](std::uint64_t limit) { return limit != cache::kUnlimited; });
  }
  const std::vector<LowerBound>& bounds() const { return bounds_; }
  const Trial& best() const { return best_; }
  std::uint64_t tried() const { return tried_; }

  /// No settings can hold less than the best: what is live fills whole units.
  bool is_proven() const {
    if (!best_.complete || best_.score.failures != 0) return false;
    const auto least = std::max_element(
        bounds_.begin(), bounds_.end(),
        [](const LowerBound& a, const LowerBound& b) { return a.in_units < b.in_units; });
    return best_.peak <= least->in_units;
  }

  /// Tries all of them, and returns whether the best one changed.
  bool try_all(const std::vector<Knobs>& candidates, double share_before, double share_after) {
    constexpr std::size_t kBatch = 32;
    bool better = false;
    for (std::size_t start = 0; start < candidates.size(); start += kBatch) {
      std::vector<Trial> trials;
      for (std::size_t i = start; i < std::min(candidates.size(), start + kBatch); ++i) {
        if (seen_.insert(conf_of(candidates[i])).second)
          trials.push_back({candidates[i], {}, 0, false});
      }
      const Trial best = best_;
      for_all(trials.size(),
              [&](std::size_t i) { run(trials[i], abandon_above(best, trials[i])); });
      tried_ += trials.size();
      for (const Trial& trial : trials) {
        if (trial.complete && (!best_.complete || trial.score < best_.score)) {
          best_ = trial;
          better = true;
        }
      }
      if (options_.progress) {
        const double done = static_cast<double>(std::min(candidates.size(), start + kBatch)) /
                            static_cast<double>(candidates.size());
        options_.progress(share_before + (share_after - share_before) * done);
      }
      if (options_.objective == Objective::memory && is_proven()) break;
    }
    return better;
  }

 private:
  /// More than this cannot win against `best`.
  std::uint64_t abandon_above(const Trial& best, const Trial& trial) const {
    if (!best.complete || best.score.failures != 0) return cache::kUnlimited;
    switch (options_.objective) {
      case Objective::memory:
        // With more settings it has to hold less.
        return best.peak - (count_set(trial.knobs) > best.score.settings ? 1 : 0);
      case Objective::balanced:
        return static_cast<std::uint64_t>(best.score.primary);
      case Objective::calls:
        break;
    }
    return cache::kUnlimited;
  }

  void run(Trial& trial, std::uint64_t abandon) const {
    const auto settings = cache::parse_settings(conf_of(trial.knobs), profile_);
    if (!settings) return;  // a value that this release refuses
    double seconds = 0;
    double share = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      Setup setup;
      setup.profile = profile_;
      setup.limit = limits_[i];
      setup.settings = *settings;
      setup.placement = options_.circumstances.placement;
      setup.abandon_above = abandon;
      const Outcome outcome = replay(*jobs_[i], setup);
      if (outcome.abandoned) return;
      trial.peak = std::max(trial.peak, outcome.peak_reserved);
      if (outcome.oom) ++trial.score.failures;
      seconds += outcome.calls.seconds;
      const double job_seconds = jobs_[i]->recording.seconds;
      if (job_seconds > 0) share = std::max(share, outcome.calls.seconds / job_seconds);
    }
    const auto peak = static_cast<double>(trial.peak);
    const bool calls_first = options_.objective == Objective::calls;
    const bool balanced = options_.objective == Objective::balanced;
    trial.score.primary = calls_first ? seconds : balanced ? peak * (1 + share) : peak;
    trial.score.secondary = calls_first ? peak : seconds;
    trial.score.settings = count_set(trial.knobs);
    trial.complete = true;
  }

  const std::vector<const Workload*>& jobs_;
  const TuneOptions& options_;
  cache::VersionProfile profile_;
  std::vector<std::uint64_t> limits_;
  std::vector<LowerBound> bounds_;
  std::set<std::string> seen_;
  Trial best_;
  std::uint64_t tried_ = 0;
};

/// The best so far with one setting changed: other divisions for one size, values in between.
std::vector<Knobs> neighbours(const Knobs& from, const SearchSpace& space) {
  std::vector<Knobs> all;
  const auto add = [&](auto change) {
    Knobs knobs = from;
    change(knobs);
    if (knobs.split_mb == 0) knobs.non_split_mb = 0;
    if (!(knobs == from)) all.push_back(knobs);
  };
  for (const std::size_t bucket : space.buckets) {
    for (const std::uint8_t division : space.divisions) {
      add([&](Knobs& k) { k.divisions[bucket] = division; });
    }
  }
  // Even numbers: pages of expandable segments are multiples of 2 MiB.
  const auto around = [](std::uint32_t value) {
    std::vector<std::uint32_t> values;
    for (const std::uint32_t step : {value / 4, value / 16, 2U}) {
      values.push_back((value - std::min(value, step)) & ~1U);
      values.push_back((value + step) & ~1U);
    }
    return values;
  };
  if (from.split_mb != 0) {
    for (const std::uint32_t mb : around(from.split_mb)) {
      add([&](Knobs& k) { k.split_mb = mb; });
    }
  }
  if (space.segment_mb.size() > 1) {
    for (const std::uint32_t mb : around(from.segment_mb != 0 ? from.segment_mb : 20)) {
      add([&](Knobs& k) { k.segment_mb = mb; });
    }
  }
  for (const std::uint32_t mb : space.segment_mb) {
    add([&](Knobs& k) { k.segment_mb = mb; });
  }
  for (const std::uint32_t mb : space.split_mb) {
    add([&](Knobs& k) { k.split_mb = mb; });
  }
  add([](Knobs& k) { k.expandable = !k.expandable; });
  for (const std::uint32_t percent : space.collect_percent) {
    add([&](Knobs& k) { k.collect_percent = percent; });
  }
  return all;
}

/// What a planner needs who knows all requests, and whose streams never lag: as the bound.
std::uint64_t packing_of(const Workload& job, std::uint64_t bound) {
  std::vector<Lifetime> lives = lifetimes_of(job);
  for (Lifetime& life : lives) {
    life.last = life.released;
  }
  return pack(lives, bound).height;
}

/// Settings that people know, to compare the best one with.
std::vector<std::string> familiar(const Workload& job) {
  return {job.recording.conf, "", "expandable_segments:True", "max_split_size_mb:128",
          "roundup_power2_divisions:4"};
}

/// Replays the best settings once more, and familiar ones beside them.
base::Result<TunedJob> tuned_job(const Workload& job, const std::string& best,
                                 const LowerBound& bound, const Circumstances& circumstances) {
  std::vector<std::string> confs = {best};
  for (const std::string& conf : familiar(job)) {
    if (std::find(confs.begin(), confs.end(), conf) == confs.end()) confs.push_back(conf);
  }
  std::vector<std::optional<Row>> rows(confs.size());
  for_all(confs.size(), [&](std::size_t r) {
    auto row = forecast(job, confs[r], circumstances, true);
    if (row) rows[r] = std::move(*row);
  });
  if (!rows[0]) return base::error(base::Code::internal, "no row for '%s'", best.c_str());
  TunedJob tuned;
  for (std::optional<Row>& row : rows) {
    if (row) tuned.rows.push_back(std::move(*row));
  }
  const auto with = [&](const std::string& conf) {
    return std::find_if(tuned.rows.begin(), tuned.rows.end(),
                        [&](const Row& row) { return row.conf == conf; });
  };
  tuned.best = tuned.rows.front();
  const auto recorded = with(job.recording.conf);
  tuned.recorded = recorded != tuned.rows.end() ? *recorded : *with("");
  std::stable_sort(tuned.rows.begin() + 1, tuned.rows.end(), [](const Row& a, const Row& b) {
    return std::make_tuple(a.outcome.oom.has_value(), a.outcome.peak_reserved) <
           std::make_tuple(b.outcome.oom.has_value(), b.outcome.peak_reserved);
  });
  tuned.lower_bound = bound.live;
  tuned.packing = packing_of(job, bound.live);
  return tuned;
}

}  // namespace

base::Result<Objective> parse_objective(std::string_view name) {
  if (name == "memory") return Objective::memory;
  if (name == "calls") return Objective::calls;
  if (name == "balanced") return Objective::balanced;
  return base::error(base::Code::bad_input, "objective '%.*s': expected memory, calls or balanced",
                     static_cast<int>(name.size()), name.data());
}

base::Result<TuneResult> tune(const std::vector<const Workload*>& jobs,
                              const TuneOptions& options) {
  constexpr int kRefinements = 4;  // of refining; most jobs are settled after two
  Search search(jobs, options);
  const SearchSpace space =
      options.space ? *options.space : space_for(jobs, search.profile(), search.is_limited());
  search.try_all(space.combinations(), 0, options.refine ? 0.6 : 0.9);
  for (int round = 0; options.refine && round < kRefinements && !search.is_proven(); ++round) {
    const double share = 0.6 + 0.3 * round / kRefinements;
    if (!search.try_all(neighbours(search.best().knobs, space), share,
                        share + 0.3 / kRefinements)) {
      break;
    }
  }
  TuneResult result;
  result.knobs = search.best().knobs;
  result.tried = search.tried();
  result.proven = search.is_proven();
  result.variable = cache::variable_to_set(search.profile());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto job =
        tuned_job(*jobs[i], conf_of(result.knobs), search.bounds()[i], options.circumstances);
    if (!job) return job.error();
    result.jobs.push_back(std::move(*job));
  }
  if (options.progress) options.progress(1);
  return result;
}

base::Json to_json(const TuneResult& result, const TunedJob& job) {
  base::Json rows = base::Json::array();
  for (const Row& row : job.rows) {
    rows.push(to_json(row));
  }
  return base::Json::object({
      {"variable", result.variable},
      {"best", to_json(job.best)},
      {"rows", std::move(rows)},
      {"recorded", to_json(job.recorded)},
      {"lower_bound_bytes", job.lower_bound},
      {"offline_packing_bytes", job.packing},
      {"settings_tried", result.tried},
      {"proven", result.proven},
  });
}

}  // namespace ebb::replay
