// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "base/standard_streams.h"
#include "cli/simulate/session.h"
#include "cli/simulate/verbs.h"
#include "cli/verb.h"
#include "fl/address_space.h"
#include "fl/simulator_program.h"
#include "fl/step_trial.h"
#include "sense/process.h"

namespace ebb::cli {

namespace {

constexpr unsigned kSecondsForTheFirst = 10;

bool is_joined = false;

}  // namespace

base::Result<std::unique_ptr<fl::Ranks>> join_ranks() {
  auto ranks = fl::join_ranks();
  is_joined = ranks.has_value() && fl::started_by_mpi();
  return ranks;
}

int complain(const base::Error& error) {
  if (fl::rank_by_environment() == 0) {
    say(error.message);
  } else {
    // What fails on all ranks, the first one says, and mpirun ends this process with it: whoever is
    // still there after a while has a trouble of its own.
    std::signal(SIGTERM, SIG_DFL);
    ::sleep(kSecondsForTheFirst);
    if (is_joined) say("rank " + std::to_string(fl::rank_by_environment()) + ": " + error.message);
  }
  return status_of(error.code);
}

namespace {

/// One step, for fl::check_address_space() in the process that started this one.
int run_trial(const SimulateOrder& order, int descriptor) {
  const fl::Config config = order.config_of(0, 0);
  base::ReclaimerRegistry reclaimers;
  keep::Cleaner cleaner(heap::host_allocator(), reclaimers, sense::rss_now);
  base::Result<fl::Mappings> need = fl::Mappings();
  if (const auto resources = fl::load_resources(config, order.execution, cleaner, fl::alone())) {
    fl::Execution execution = order.execution;
    if (order.writes_folder) execution.folder = ".";
    need = fl::mappings_of_a_step(config, execution, *resources);
  } else {
    need = resources.error();
  }
  fl::tell_need(descriptor, need);
  return need ? kDone : status_of(need.error().code);
}

int run(int count, char** words) {
  Program program("ebb", "Federated learning, simulated within a bounded memory.",
                  std::string("ebb-simulate ") + EBB_VERSION);
  add_simulating(program.verbs(), [words](const SimulateOrder& order) {
    if (const auto descriptor = fl::trial_descriptor()) return run_trial(order, *descriptor);
    if (const auto fits = fl::check_address_space("/proc/self/exe", words); !fits)
      return complain(fits.error());
    auto ranks = join_ranks();
    return ranks ? simulate_all(order, *std::move(ranks)) : complain(ranks.error());
  });
  return program.run(count, words, fl::rank_by_environment() == 0);
}

}  // namespace
}  // namespace ebb::cli

int main(int count, char** words) {
  ebb::base::hold_standard_streams();
  ebb::base::outlive_limits_of_files();
  if (ebb::fl::set_simulator_environment()) {
    ::execv("/proc/self/exe", words);
    std::perror("ebb: cannot start /proc/self/exe again");
    return ebb::cli::kFailed;
  }
  int status = ebb::cli::kFailed;
  try {
    status = ebb::cli::run(count, words);
  } catch (const std::exception& failure) {
    ebb::cli::say(std::string("internal error: ") + failure.what());
  }
  // Nothing of ours is left to be done, and PyTorch takes its time to forget its operators.
  std::fflush(nullptr);
  ::_exit(status);
}
