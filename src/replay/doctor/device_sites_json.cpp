// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/device_sites.h"

namespace ebb::replay {
namespace {

using base::Json;

Json range_json(const StepGrowth& growth, double each) {
  if (!growth.range) return {};
  Json json = Json::array();
  json.push(growth.range->first / each).push(growth.range->second / each);
  return json;
}

/// By the second only where it is known how long a step takes.
void add_growth(Json& json, const StepGrowth& growth, const std::optional<double>& step_seconds) {
  if (step_seconds) {
    json.set("growth_bytes_per_second", growth.per_step / *step_seconds);
    json.set("growth_range", range_json(growth, *step_seconds));
  }
  json.set("growth_share", growth.share).set("confidence", fact::name_of(growth.confidence));
  json.set("growth_bytes_per_step", growth.per_step);
  json.set("growth_range_per_step", range_json(growth, 1));
}

/// The keys that sites have everywhere, and what is known of a device's besides. Every block is
/// counted, none is sampled, and a snapshot does not say of which process it is.
Json json_of(const DeviceSite& site, const std::optional<double>& step_seconds) {
  Json json = Json::object({{"pid", Json()},
                            {"place", fact::place_of(site.frames)},
                            {"bytes", site.held.bytes},
                            {"share", site.share},
                            {"samples", Json()},
                            {"since_seconds", site.since},
                            {"growth_bytes_per_second", Json()},
                            {"growth_range", Json()},
                            {"growth_share", Json()},
                            {"confidence", Json()},
                            {"frames", fact::to_json(site.frames)},
                            {"blocks", site.held.blocks},
                            {"growth_bytes_per_step", Json()},
                            {"growth_range_per_step", Json()}});
  if (site.growth) add_growth(json, *site.growth, step_seconds);
  return json;
}

}  // namespace

void add_json(Json& json, const DeviceSites& sites) {
  json.set("live", Json::object({{"at", name_of(sites.at)},
                                 {"bytes", sites.live.bytes},
                                 {"blocks", sites.live.blocks},
                                 {"no_stack_bytes", sites.no_stack.bytes},
                                 {"no_stack_blocks", sites.no_stack.blocks},
                                 {"before_history_bytes", sites.before_history.bytes},
                                 {"before_history_blocks", sites.before_history.blocks}}));
  if (!sites.has_stacks) {
    json.set("sites", Json());
    return;
  }
  Json list = Json::array();
  for (const DeviceSite& site : sites.sites)
    list.push(json_of(site, sites.step_seconds));
  json.set("sites", std::move(list));
}

}  // namespace ebb::replay
