// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

base::Json later_json(const Foresight& later) {
  base::Json json = base::Json::object({
      {"median_bytes", later.rule().peak},
      {"worst_bytes", later.worst().peak},
      {"futures", std::uint64_t{later.futures().size()}},
      {"out_of_memory_futures", later.out_of_memory()},
  });
  // Neither is known of what ran out of memory.
  const auto over_live = later.over_live();
  json.set("over_live", over_live ? base::Json(*over_live) : base::Json());
  const auto& growth = later.rule().growth;
  json.set("growth", growth ? to_json(*growth) : base::Json());
  return json;
}

std::uint64_t most_live(const Foresight& later) {
  std::uint64_t most = 0;
  for (const Followed& future : later.futures()) {
    most = std::max(most, future.live);
  }
  return most;
}

base::Json futures_json(const FuturesTried& futures) {
  const std::set<Source> kinds(futures.sources.begin(), futures.sources.end());
  base::Json sources = base::Json::array();
  for (const Source source : kinds) {
    sources.push(name_of(source));
  }
  return base::Json::object({
      {"source", std::move(sources)},
      {"count", std::uint64_t{futures.sources.size()}},
      {"held_out", futures.held_out},
      {"steps", futures.steps},
  });
}

}  // namespace

base::Json to_json(const TuneResult& result, const TunedJob& job) {
  base::Json rows = base::Json::array();
  for (const Row& row : job.rows) {
    rows.push(to_json(row));
  }
  base::Json json = base::Json::object({
      {"variable", result.variable},
      {"best", to_json(job.best)},
      {"rows", std::move(rows)},
      {"recorded", to_json(job.recorded)},
      {"lower_bound_bytes", job.lower_bound},
      {"offline_packing_bytes", job.packing},
      {"settings_tried", result.tried},
      {"proven", result.proven},
  });
  if (result.futures) {
    json.set("futures", futures_json(*result.futures));
    base::Json regret = base::Json::object({{"chosen", result.futures->regret}});
    if (result.futures->held_out_regret) regret.set("held_out", *result.futures->held_out_regret);
    json.set("regret", std::move(regret));
  }
  if (job.later) {
    json.set("later", later_json(*job.later));
    json.set("later_live_bytes", most_live(*job.later));
    const auto& growth = job.later->rule().growth;
    json.set("growth", growth ? to_json(*growth) : base::Json());
  }
  if (job.card) {
    json.set("card", base::Json::object({
                         {"without_retries_bytes", job.card->without_retries},
                         {"with_retries_bytes", job.card->with_retries},
                         {"retries", job.card->retries},
                         {"steps", job.card->steps},
                         {"at_least_seconds", job.card->seconds},
                         {"futures", job.card->futures},
                         {"sizes_tried", job.card->sizes_tried},
                     }));
  }
  if (job.later_by_default) json.set("later_by_default", later_json(*job.later_by_default));
  if (job.later_as_recorded) json.set("later_as_recorded", later_json(*job.later_as_recorded));
  return json;
}

}  // namespace ebb::replay
