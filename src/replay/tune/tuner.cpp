// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/tuner.h"

#include <algorithm>
#include <tuple>

#include "replay/lifetimes.h"
#include "replay/parallel.h"
#include "replay/tune/packing.h"

namespace ebb::replay {
namespace {

/// Thrown where the search is to stop, and caught where it began.
struct Stopped {};

void stop_where_asked(const TuneOptions& options) {
  if (options.stops && options.stops()) throw Stopped{};
}

/// As many of what fits the recording best are tried on futures.
constexpr std::size_t kGoOn = 64;

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
  tuned.recorded_refused = recorded == tuned.rows.end();
  tuned.recorded = tuned.recorded_refused ? *with("") : *recorded;
  std::stable_sort(tuned.rows.begin() + 1, tuned.rows.end(), [](const Row& a, const Row& b) {
    return std::make_tuple(a.outcome.oom.has_value(), a.outcome.peak_reserved) <
           std::make_tuple(b.outcome.oom.has_value(), b.outcome.peak_reserved);
  });
  tuned.lower_bound = bound.live;
  tuned.least_possible = bound.in_units;
  tuned.packing = packing_of(job, bound.live);
  return tuned;
}

FuturesTried futures_of(const Outlook& outlook, const Choice& choice) {
  FuturesTried tried;
  for (const Scenario& which : outlook.scenarios()) {
    tried.sources.push_back(which.source);
    if (which.held_out) ++tried.held_out;
    tried.steps = std::max(tried.steps, outlook.steps_ahead(which.job));
  }
  tried.repeats = outlook.repeats();
  tried.only_baselines = !trusts_longer_strings(outlook);
  tried.regret = choice.regret;
  tried.held_out_regret = choice.held_out_regret;
  return tried;
}

/// What comes of the best settings, of none and of the recorded ones.
void look_ahead(const Outlook& outlook, std::size_t job, TunedJob& tuned,
                const std::function<void(double share)>& between) {
  std::vector<std::string> confs;
  const auto place_of = [&](const std::string& conf) {
    const auto found = std::find(confs.begin(), confs.end(), conf);
    const auto place = static_cast<std::size_t>(found - confs.begin());
    if (found == confs.end()) confs.push_back(conf);
    return place;
  };
  const std::size_t best = place_of(tuned.best.conf);
  const std::size_t by_default = place_of("");
  const std::size_t recorded = place_of(tuned.recorded.conf);
  const std::vector<std::optional<Foresight>> found = outlook.foresee(job, confs, between);
  tuned.later = found[best];
  tuned.later_by_default = found[by_default];
  if (!tuned.recorded_refused) tuned.later_as_recorded = found[recorded];
}

base::Result<TuneResult> search_for(const std::vector<const Workload*>& jobs,
                                    const TuneOptions& options) {
  const auto part = [&](double from, double to) {
    return [&options, from, to](double share) {
      stop_where_asked(options);
      if (options.progress) options.progress(from + (to - from) * share);
    };
  };
  const auto stop_only = [&options](double) { stop_where_asked(options); };
  Search::Options how{options.objective, options.circumstances,
                      options.quick ? std::size_t{1} : kGoOn, part(0, options.quick ? 0.9 : 0.4)};
  Search search(jobs, how);
  SearchSpace space =
      options.space ? *options.space : space_for(jobs, search.profile(), search.is_limited());
  for (const std::string& key : options.without) {
    if (const base::Status left_out = leave_out(space, key); !left_out) return left_out.error();
  }
  TuneResult result;
  result.variable = cache::variable_to_set(search.profile());
  std::optional<Outlook> outlook;
  if (options.quick) {
    search.run(space, options.refine);
    result.knobs = search.best().front().knobs;
    result.tried = search.tried();
  } else {
    outlook.emplace(jobs, options.objective, options.circumstances);
    const std::vector<Knobs> baselines = baselines_in(space, search.profile());
    if (trusts_longer_strings(*outlook)) search.run(space, options.refine);
    const Choice choice = choose(*outlook, baselines, search.best(), part(0.4, 0.9));
    result.knobs = choice.knobs;
    result.tried = std::max<std::uint64_t>(search.tried(), baselines.size());
    result.futures = futures_of(*outlook, choice);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    stop_where_asked(options);
    auto job =
        tuned_job(*jobs[i], conf_of(result.knobs), search.bounds()[i], options.circumstances);
    if (!job) return job.error();
    const double done = 0.9 + 0.1 * static_cast<double>(i) / static_cast<double>(jobs.size());
    const double next = 0.9 + 0.1 * static_cast<double>(i + 1) / static_cast<double>(jobs.size());
    if (outlook && options.foretell) look_ahead(*outlook, i, *job, part(done, next));
    stop_where_asked(options);
    if (outlook && outlook->is_limited() && job->later) {
      const std::optional<Growth>& growth = job->later->rule().growth;
      job->grows_on_any_card = growth ? !growth->stops_after_steps
                                      : outlook->grows_without_limit(i, job->best.conf, stop_only);
      // No card is large enough for a job that goes on to grow.
      if (!job->grows_on_any_card) job->card = smallest_card(*outlook, i, job->best.conf);
    }
    result.jobs.push_back(std::move(*job));
  }
  result.proven = std::all_of(result.jobs.begin(), result.jobs.end(), [](const TunedJob& job) {
    return !job.best.outcome.oom && job.best.outcome.peak_reserved <= job.least_possible;
  });
  if (options.progress) options.progress(1);
  return result;
}

}  // namespace

base::Result<TuneResult> tune(const std::vector<const Workload*>& jobs,
                              const TuneOptions& options) try {
  return search_for(jobs, options);
} catch (const Stopped&) {
  return base::error(base::Code::unavailable, "the search was stopped");
}

}  // namespace ebb::replay
