// SPDX-License-Identifier: Apache-2.0
#include "fl/config.h"

#include <array>
#include <cctype>
#include <cmath>

#include "fl/names.h"

namespace ebb::fl {
namespace {

constexpr std::array<Named<Workflow>, 3> kWorkflows = {{
    {Workflow::server, "server"},
    {Workflow::cyclic, "cyclic"},
    {Workflow::swarm, "swarm"},
}};
constexpr std::array<Named<Rule>, 7> kRules = {{
    {Rule::fedavg, "fedavg"},
    {Rule::fedprox, "fedprox"},
    {Rule::fedavgm, "fedavgm"},
    {Rule::fedadam, "fedadam"},
    {Rule::fedyogi, "fedyogi"},
    {Rule::median, "median"},
    {Rule::trimmed_mean, "trimmed-mean"},
}};
const std::vector<std::string_view> kBackends = {"auto", "native", "onednn", "cuda"};

/// An option that counts.
struct Count {
  const char* name;
  std::uint32_t value;
};

/// An option that is a number, with the range that it has to be in.
struct Number {
  const char* name;
  double value;
  bool right;
  const char* expected;
};

base::Status check_counts(const Config& config) {
  for (const Count& count :
       {Count{"clients", config.clients}, Count{"per_round", config.per_round},
        Count{"rounds", config.rounds}, Count{"epochs", config.epochs},
        Count{"batch", config.batch}, Count{"eval_every", config.eval_every}}) {
    if (count.value == 0)
      return base::error(base::Code::bad_input, "%s 0, expected at least 1", count.name);
  }
  if (config.per_round > config.clients)
    return base::error(base::Code::bad_input, "per_round %u, expected at most the %u clients",
                       config.per_round, config.clients);
  return {};
}

base::Status check_numbers(const Config& config) {
  const Aggregation& of = config.aggregation;
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  const auto share = [](double value) { return value >= 0 && value < 1; };
  const std::array<Number, 7> numbers = {{
      {"lr", config.lr, positive(config.lr), "a number above 0"},
      {"proximal", of.proximal, of.proximal >= 0 && std::isfinite(of.proximal), "0 or more"},
      {"server_lr", of.server_lr, positive(of.server_lr), "a number above 0"},
      {"momentum", of.momentum, share(of.momentum), "0 or more and below 1"},
      {"beta2", of.beta2, share(of.beta2), "0 or more and below 1"},
      {"tau", of.tau, positive(of.tau), "a number above 0"},
      {"trim", of.trim, of.trim >= 0 && of.trim < 0.5, "0 or more and below 0.5"},
  }};
  for (const Number& number : numbers) {
    if (!number.right)
      return base::error(base::Code::bad_input, "%s %g, expected %s", number.name, number.value,
                         number.expected);
  }
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
  if (config.world.staleness > 0 && !averages)
    return base::error(base::Code::bad_input,
                       "staleness with aggregation %s, expected a mean: it needs all updates of a "
                       "round at once",
                       name_of(rule));
  if (config.workflow != Workflow::cyclic) return {};
  if (rule != Rule::fedavg && rule != Rule::fedprox)
    return base::error(base::Code::bad_input,
                       "workflow cyclic with aggregation %s, expected fedavg or fedprox: it "
                       "aggregates nothing",
                       name_of(rule));
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

base::Result<Workflow> workflow_from(std::string_view name) {
  return value_in<Workflow>(kWorkflows, "workflow", name);
}

base::Result<Rule> rule_from(std::string_view name) {
  return value_in<Rule>(kRules, "aggregation", name);
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

base::Status check(const Config& config) {
  if (const auto right = check_data_set_name(config.dataset); !right) return right;
  if (const auto right = check_counts(config); !right) return right;
  if (const auto right = check_numbers(config); !right) return right;
  if (const auto right = check(config.partition); !right) return right;
  if (const auto right = check(config.world); !right) return right;
  if (const auto right = check(config.privacy); !right) return right;
  bool known = false;
  for (const std::string_view backend : kBackends)
    known = known || backend == config.backend;
  if (!known) return unknown_name("backend", config.backend, kBackends);
  return check_company(config);
}

}  // namespace ebb::fl
