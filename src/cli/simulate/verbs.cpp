// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/session.h"

#include <CLI/CLI.hpp>

#include "cli/verb.h"

namespace ebb::cli {
namespace {

int run_simulate(const SimulateWords& words) {
  if (words.list) return is_first_rank() ? list_simulations(words.json) : kDone;
  const auto order = order_from(words);
  if (!order) return complain(order.error());
  auto ranks = join_ranks();
  if (!ranks) return complain(ranks.error());
  return simulate_all(*order, *std::move(ranks), command_line());
}

void add_verb(CLI::App* verb, bool compare, Action& action) {
  auto words = std::make_shared<SimulateWords>();
  words->compare = compare;
  add_simulate_options(*verb, *words);
  verb->callback([words, &action] { action = [words] { return run_simulate(*words); }; });
}

}  // namespace

void add_simulate(CLI::App& program, Action& action) {
  CLI::App* verb = program.add_subcommand("simulate", kSimulateHelp);
  add_verb(verb, false, action);
  verb->footer(
      "Examples:\n"
      "  ebb simulate --clients 100 --per-round 10 --rounds 10 --partition dirichlet\n"
      "  ebb simulate --method system_aware.oort --memory 2GiB --html oort.html\n"
      "  ebb simulate --resume ebb-runs/20261115-163005-heuristic.random\n"
      "  mpirun -n 4 ebb simulate --rounds 100");
}

void add_compare(CLI::App& program, Action& action) {
  CLI::App* verb = program.add_subcommand("compare", kCompareHelp);
  add_verb(verb, true, action);
  verb->footer(
      "Examples:\n"
      "  ebb compare --methods heuristic.random,system_aware.oort --rounds 100\n"
      "  ebb compare --methods heuristic.random,system_aware.poc --repeats 5 --html methods.html");
}

}  // namespace ebb::cli
