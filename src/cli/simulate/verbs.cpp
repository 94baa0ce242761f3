// SPDX-License-Identifier: Apache-2.0
#include "base/program.h"
#include "cli/simulate/session.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

int run_simulate(const SimulateWords& words) {
  if (words.list) return fl::rank_by_environment() == 0 ? list_simulations(words.json) : kDone;
  const auto order = order_from(words);
  if (!order) return complain(order.error());
  auto ranks = join_ranks();
  if (!ranks) return complain(ranks.error());
  return simulate_all(*order, *std::move(ranks));
}

void add_simulating(Verb program, const VerbHelp& about, bool compare) {
  auto words = std::make_shared<SimulateWords>();
  words->compare = compare;
  program.add(about, options_of(*words), [words] { return run_simulate(*words); });
}

}  // namespace

void add_simulate(Verb program) {
  add_simulating(program,
                 {"simulate", kSimulateHelp,
                  "Examples:\n"
                  "  ebb simulate --clients 100 --per-round 10 --rounds 10 --partition dirichlet\n"
                  "  ebb simulate --method system_aware.oort --memory 2GiB --html oort.html\n"
                  "  ebb simulate --resume ebb-runs/20261115-163005-heuristic.random\n"
                  "  mpirun -n 4 ebb simulate --rounds 100"},
                 false);
}

void add_compare(Verb program) {
  add_simulating(program,
                 {"compare", kCompareHelp,
                  "Examples:\n"
                  "  ebb compare --methods heuristic.random,system_aware.oort --rounds 100\n"
                  "  ebb compare --methods heuristic.random,system_aware.poc --repeats 5 --html "
                  "methods.html"},
                 true);
}

}  // namespace ebb::cli
