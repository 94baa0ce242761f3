// SPDX-License-Identifier: Apache-2.0
#include "fl/config.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "fl/names.h"
#include "plan/network_file.h"
#include "sense/memory_info.h"

namespace ebb::fl {
namespace {

constexpr std::array<Named<Workflow>, 3> kWorkflows = {{
    {Workflow::server, "server"},
    {Workflow::cyclic, "cyclic"},
    {Workflow::swarm, "swarm"},
}};
constexpr std::array<Named<Rule>, 8> kRules = {{
    {Rule::fedavg, "fedavg"},
    {Rule::fedprox, "fedprox"},
    {Rule::scaffold, "scaffold"},
    {Rule::fedavgm, "fedavgm"},
    {Rule::fedadam, "fedadam"},
    {Rule::fedyogi, "fedyogi"},
    {Rule::median, "median"},
    {Rule::trimmed_mean, "trimmed-mean"},
}};
constexpr std::array<Named<Weighting>, 2> kWeightings = {{
    {Weighting::samples, "samples"},
    {Weighting::none, "none"},
}};
constexpr std::array<Named<ScheduleKind>, 3> kSchedules = {{
    {ScheduleKind::constant, "constant"},
    {ScheduleKind::step, "step"},
    {ScheduleKind::cosine, "cosine"},
}};
const std::vector<std::string_view> kBackends = {"auto", "native", "onednn", "cuda"};

/// The same of what a client does in a round.
base::Status check_local_work(const Config& config) {
  const RateSchedule& schedule = config.schedule;
  if (config.local_steps && config.epochs != 1)
    return base::error(base::Code::bad_input,
                       "local_steps %llu with epochs %u, expected one of the two",
                       static_cast<unsigned long long>(*config.local_steps), config.epochs);
  if (schedule.kind == ScheduleKind::step && !schedule.step_size)
    return base::error(base::Code::bad_input, "lr_schedule step, expected lr_step_size with it");
  if (schedule.kind != ScheduleKind::step && schedule.step_size)
    return base::error(base::Code::bad_input, "lr_step_size with lr_schedule %s, expected step",
                       name_of(schedule.kind));
  if (schedule.kind != ScheduleKind::cosine && schedule.t_max)
    return base::error(base::Code::bad_input, "lr_t_max with lr_schedule %s, expected cosine",
                       name_of(schedule.kind));
  if (schedule.kind == ScheduleKind::cosine && !(schedule.eta_min < config.lr))
    return base::error(base::Code::bad_input, "lr_eta_min %g, expected less than the lr of %g",
                       schedule.eta_min, config.lr);
  return {};
}

/// The same of whose the samples are.
base::Status check_users(const Config& config) {
  const bool has_users = config.dataset == kLeafName;
  const bool takes_them = config.partition.kind == PartitionKind::users;
  if (has_users && !takes_them)
    return base::error(base::Code::bad_input,
                       "partition %s with dataset leaf, expected users: they are the clients",
                       name_of(config.partition.kind));
  if (takes_them && !has_users)
    return base::error(base::Code::bad_input,
                       "partition users with dataset %s, expected leaf: the others have none",
                       config.dataset.c_str());
  return {};
}

/// The same of what control variates go with.
base::Status check_scaffold(const Config& config) {
  if (config.aggregation.rule != Rule::scaffold) return {};
  const auto wrong = [](const char* with, const char* expected) {
    return base::error(base::Code::bad_input, "aggregation scaffold with %s, expected %s", with,
                       expected);
  };
  if (config.workflow == Workflow::swarm)
    return wrong("workflow swarm", "server: it has a control variate of its own");
  if (config.workflow == Workflow::cyclic)
    return wrong("workflow cyclic", "server: it has a control variate of its own");
  if (config.world.staleness > 0)
    return wrong("staleness", "none: control variates are of the round that they came from");
  if (config.privacy.on())
    return wrong("dp_clip", "none: control variates are sent beside updates");
  return {};
}

/// Options that are right each alone, but not together.
base::Status check_company(const Config& config) {
  const Rule rule = config.aggregation.rule;
  const bool averages = rule != Rule::median && rule != Rule::trimmed_mean;
  if (config.privacy.on() && !averages)
    return base::error(base::Code::bad_input,
                       "dp_clip with aggregation %s, expected a mean: the noise is added to a sum",
                       name_of(rule));
  if (config.privacy.sampling == Sampling::poisson) {
    if (!config.privacy.on())
      return base::error(base::Code::bad_input,
                         "dp_sampling poisson without dp_clip, expected a norm to cut updates to");
    if (config.method != "heuristic.random")
      return base::error(base::Code::bad_input,
                         "dp_sampling poisson with method %s, expected heuristic.random: each "
                         "client is drawn by itself",
                         config.method.c_str());
    if (config.workflow != Workflow::server)
      return base::error(base::Code::bad_input,
                         "dp_sampling poisson with workflow %s, expected server: a round may have "
                         "no clients",
                         name_of(config.workflow));
  }
  if (config.world.staleness > 0 && !averages)
    return base::error(base::Code::bad_input,
                       "staleness with aggregation %s, expected a mean: it needs all updates of a "
                       "round at once",
                       name_of(rule));
  if (config.world.round_timeout && config.workflow != Workflow::swarm)
    return base::error(base::Code::bad_input,
                       "round_timeout with workflow %s, expected swarm: nobody else sends models "
                       "to an aggregator among clients",
                       name_of(config.workflow));
  if (config.workflow != Workflow::cyclic) return {};
  if (rule != Rule::fedavg && rule != Rule::fedprox)
    return base::error(base::Code::bad_input,
                       "workflow cyclic with aggregation %s, expected fedavg or fedprox: it "
                       "aggregates nothing",
                       name_of(rule));
  if (config.aggregation.weighting != Weighting::samples)
    return base::error(base::Code::bad_input,
                       "workflow cyclic with weighting %s, expected server or swarm: it sums "
                       "nothing",
                       name_of(config.aggregation.weighting));
  if (config.privacy.on())
    return base::error(base::Code::bad_input,
                       "workflow cyclic with dp_clip, expected server or swarm: it sums nothing");
  return {};
}

}  // namespace

const char* name_of(Workflow workflow) {
  return name_in<Workflow>(kWorkflows, workflow);
}

const char* name_of(Rule rule) {
  return name_in<Rule>(kRules, rule);
}

const char* name_of(Weighting weighting) {
  return name_in<Weighting>(kWeightings, weighting);
}

const char* name_of(ScheduleKind kind) {
  return name_in<ScheduleKind>(kSchedules, kind);
}

base::Result<Workflow> workflow_from(std::string_view name) {
  return value_in<Workflow>(kWorkflows, "workflow", name);
}

base::Result<Rule> rule_from(std::string_view name) {
  return value_in<Rule>(kRules, "aggregation", name);
}

base::Result<Weighting> weighting_from(std::string_view name) {
  return value_in<Weighting>(kWeightings, "weighting", name);
}

base::Result<ScheduleKind> schedule_from(std::string_view name) {
  return value_in<ScheduleKind>(kSchedules, "lr_schedule", name);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const std::string_view network : plan::network_names()) {
    std::string name;
    for (const char c : network) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!name.empty() && name.back() != '-') {
        name += '-';
      }
    }
    if (name.ends_with('-')) name.pop_back();
    names.push_back(name);
  }
  return names;
}

base::Result<plan::Network> network_of(const Config& config, const plan::Picture& picture,
                                       std::uint64_t classes) {
  if (!config.network) return plan::network_of(config.model, picture, classes);
  return plan::network_from(*config.network, config.model, picture, classes);
}

base::Status check(const NvflareSettings& settings, Workflow workflow) {
  NvflareSettings copy = settings;
  if (const auto in_range = base::check(options_of(copy)); !in_range) return in_range;
  const bool swarm = workflow == Workflow::swarm;
  if (settings.memory_gc_rounds && !swarm)
    return base::error(base::Code::bad_input,
                       "memory_gc_rounds with workflow %s, expected swarm: server and clients have "
                       "server_memory_gc_rounds and client_memory_gc_rounds",
                       name_of(workflow));
  if (settings.server_memory_gc_rounds && swarm)
    return base::error(base::Code::bad_input,
                       "server_memory_gc_rounds with workflow swarm, expected memory_gc_rounds: "
                       "clients aggregate");
  return {};
}

base::Status check(const Execution& execution, Workflow workflow) {
  if (const auto right = check(execution.nvflare, workflow); !right) return right;
  if (const auto right = sense::check({execution.warn_percent, execution.critical_percent}); !right)
    return right;
  if (const auto right = sense::check({execution.gpu_warn_percent, execution.gpu_critical_percent});
      !right)
    return base::error(base::Code::bad_input,
                       "--gpu-warn and --gpu-critical: expected 0 < warn <= critical <= 100, got "
                       "%g and %g",
                       execution.gpu_warn_percent, execution.gpu_critical_percent);
  return {};
}

void add_missing(const NvflareSettings& others, NvflareSettings& said) {
  const auto add = [](const auto& from, auto& to) {
    if (!to) to = from;
  };
  add(others.server_memory_gc_rounds, said.server_memory_gc_rounds);
  add(others.client_memory_gc_rounds, said.client_memory_gc_rounds);
  add(others.memory_gc_rounds, said.memory_gc_rounds);
  add(others.cuda_empty_cache, said.cuda_empty_cache);
}

base::Status check(const Config& config) {
  if (const auto right = check_data_set_name(config.dataset); !right) return right;
  Config copy = config;
  if (const auto right = base::check(options_of(copy)); !right) return right;
  if (config.per_round > config.clients)
    return base::error(base::Code::bad_input, "per_round %u, expected at most the %u clients",
                       config.per_round, config.clients);
  if (config.candidates > 0 && config.candidates < std::min(config.per_round, config.clients))
    return base::error(base::Code::bad_input,
                       "candidates %u, expected at least the %u clients of a round, or 0",
                       config.candidates, config.per_round);
  if (const auto right = check_local_work(config); !right) return right;
  if (const auto right = check(config.partition); !right) return right;
  if (const auto right = check_users(config); !right) return right;
  if (const auto right = check(config.world); !right) return right;
  if (const auto right = check(config.privacy, config.per_round); !right) return right;
  bool known = false;
  for (const std::string_view backend : kBackends)
    known = known || backend == config.backend;
  if (!known) return unknown_name("backend", config.backend, kBackends);
  if (const auto right = check_scaffold(config); !right) return right;
  return check_company(config);
}

}  // namespace ebb::fl
