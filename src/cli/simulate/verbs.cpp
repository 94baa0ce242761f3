// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/verbs.h"

#include "cli/verb.h"
#include "fl/ranks.h"

namespace ebb::cli {
namespace {

int run_simulate(const SimulateWords& words, const Simulating& simulate) {
  if (words.list) return fl::rank_by_environment() == 0 ? list_simulations(words.json) : kDone;
  const auto order = order_from(words);
  return order ? simulate(*order) : complain(order.error());
}

void add_one(Verb program, const VerbHelp& about, bool compare, const Simulating& simulate) {
  auto words = std::make_shared<SimulateWords>();
  words->compare = compare;
  program.add(about, options_of(*words),
              [words, simulate] { return run_simulate(*words, simulate); });
}

}  // namespace

void add_simulating(Verb program, const Simulating& simulate) {
  add_one(program,
          {"simulate", "Federated learning with many clients, simulated within a bounded memory",
           "Examples:\n"
           "  ebb simulate --clients 100 --per-round 10 --rounds 10 --partition dirichlet\n"
           "  ebb simulate --method system_aware.oort --memory 2GiB --html oort.html\n"
           "  ebb simulate --resume ebb-runs/20261115-163005-heuristic.random\n"
           "  mpirun -n 4 ebb simulate --rounds 100"},
          false, simulate);
  add_one(program,
          {"compare", "Ways to choose clients, simulated on the same data, world and seeds",
           "Examples:\n"
           "  ebb compare --methods heuristic.random,system_aware.oort --rounds 100\n"
           "  ebb compare --methods heuristic.random,system_aware.poc --repeats 5 --html "
           "methods.html"},
          true, simulate);
}

}  // namespace ebb::cli
