// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/sweep_page.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "fl/recorded.h"
#include "show/simulate/outcome_page.h"

namespace ebb::show {
namespace {

using Repeat = std::shared_ptr<const SimulatedRun>;

/// What is simulated in the same way, but for the seed.
struct Method {
  std::string same;  ///< their configuration without it
  std::vector<Repeat> repeats;
};

std::string without_seed(fl::Config config) {
  config.seed = 0;
  config.synthetic.seed = 0;
  return fl::to_json(config).text();
}

std::uint32_t rounds_of(const Repeat& repeat) {
  return repeat->result.rounds.empty() ? 0 : repeat->result.rounds.back().round + 1;
}

/// Keeps the one that came further, of two the later.
void add(std::vector<Repeat>& repeats, const Repeat& repeat) {
  const auto same = std::find_if(repeats.begin(), repeats.end(), [&](const Repeat& other) {
    return other->result.config.seed == repeat->result.config.seed;
  });
  if (same == repeats.end()) {
    repeats.push_back(repeat);
  } else if (rounds_of(repeat) >= rounds_of(*same)) {
    *same = repeat;
  }
}

std::vector<Method> methods_of(const std::vector<Repeat>& simulations) {
  std::vector<Method> methods;
  for (const Repeat& repeat : simulations) {
    if (!repeat) continue;
    const std::string same = without_seed(repeat->result.config);
    auto found = std::find_if(methods.begin(), methods.end(),
                              [&](const Method& method) { return method.same == same; });
    if (found == methods.end()) found = methods.insert(methods.end(), Method{same, {}});
    add(found->repeats, repeat);
  }
  for (Method& method : methods) {
    std::sort(method.repeats.begin(), method.repeats.end(), [](const Repeat& a, const Repeat& b) {
      return a->result.config.seed < b->result.config.seed;
    });
  }
  return methods;
}

SimulateOutcome outcome_of(const std::vector<Method>& methods) {
  SimulateOutcome outcome;
  outcome.compare = methods.size() > 1;
  outcome.config = methods.front().repeats.front()->result.config;
  std::map<std::string, int> named;
  for (const Method& method : methods)
    ++named[method.repeats.front()->result.config.method];
  std::set<std::uint64_t> seeds;
  for (const Method& method : methods) {
    std::string name = method.repeats.front()->result.config.method;
    // The same method with other settings: the run tells which.
    if (named[name] > 1) name += " (run " + std::to_string(method.repeats.front()->run) + ")";
    fl::MethodRuns runs{std::move(name), {}};
    std::vector<std::int64_t> numbers;
    for (const Repeat& repeat : method.repeats) {
      seeds.insert(repeat->result.config.seed);
      numbers.push_back(repeat->run);
      runs.repeats.push_back(repeat->result);
    }
    outcome.methods.push_back(std::move(runs));
    outcome.run_of.push_back(std::move(numbers));
  }
  outcome.seeds.assign(seeds.begin(), seeds.end());
  return outcome;
}

/// How far all of it is.
std::string progress_text(const std::vector<Repeat>& simulations, const SimulateOutcome& outcome) {
  std::size_t ended = 0;
  std::size_t begun = 0;
  for (const fl::MethodRuns& runs : outcome.methods) {
    begun += runs.repeats.size();
    ended += static_cast<std::size_t>(
        std::count_if(runs.repeats.begin(), runs.repeats.end(),
                      [](const fl::SimulationResult& result) { return !result.stopped; }));
  }
  std::size_t planned = begun;
  for (const Repeat& one : simulations)
    if (one) planned = std::max(planned, std::size_t{one->parts});
  return base::format_text("%zu of %zu", ended, planned);
}

bool has_gaps(const fl::SimulationResult& result) {
  return !result.rounds.empty() && result.rounds.back().round + 1 != result.rounds.size();
}

}  // namespace

std::shared_ptr<const SimulatedRun> read_simulation(const record::RecordedSimulation& recorded) {
  const auto beginning = base::parse_json(recorded.simulation.about);
  if (!beginning) return nullptr;
  std::vector<std::string> rounds;
  for (const record::SimulatedRound& round : recorded.rounds)
    rounds.push_back(round.json);
  auto result = fl::simulation_from(*beginning, rounds);
  if (!result) return nullptr;
  auto read = std::make_shared<SimulatedRun>();
  read->run = recorded.summary.run.id;
  read->parts = recorded.simulation.parts;
  read->result = *std::move(result);
  return read;
}

page::Document page_of_sweep(const std::vector<Repeat>& simulations) {
  const std::vector<Method> methods = methods_of(simulations);
  page::Document page;
  if (methods.empty()) {
    page.title = "Simulations";
    page.subtitle = "None of them can be read by this Ebb";
    return page;
  }
  const SimulateOutcome outcome = outcome_of(methods);
  page = page_of_simulations(outcome);
  page.facts.push_back({"simulated", progress_text(simulations, outcome)});
  const bool is_thinned =
      std::any_of(outcome.methods.begin(), outcome.methods.end(), [](const fl::MethodRuns& runs) {
        return std::any_of(runs.repeats.begin(), runs.repeats.end(), has_gaps);
      });
  if (is_thinned) {
    // Counts over the rounds that are left would be too small.
    page.heat_maps.clear();
    std::erase_if(page.plots, [](const page::Plot& plot) { return plot.title == "Participation"; });
    page.subtitle += "; of long simulations the record keeps some of the rounds";
  }
  return page;
}

}  // namespace ebb::show
