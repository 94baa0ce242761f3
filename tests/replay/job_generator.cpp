// SPDX-License-Identifier: Apache-2.0
#include "replay/job_generator.h"

#include <array>

#include "replay/generator/families.h"

namespace ebb::replay {
namespace {

using generator::Draws;
using generator::Tape;

/// Nobody stops recording before.
constexpr std::size_t kFewestSteps = 4;

struct Family {
  const char* name;
  generator::Step (*begin)(Tape&, Draws&);
  std::uint64_t share;  ///< how many of a hundred jobs are of this kind
};

constexpr std::array<Family, 12> kFamilies = {{
    {"constant_shapes", generator::constant_shapes, 10},
    {"varying_lengths", generator::varying_lengths, 16},
    {"accumulated_gradients", generator::accumulated_gradients, 8},
    {"multi_scale_images", generator::multi_scale_images, 10},
    {"evaluation_between", generator::evaluation_between, 8},
    {"slow_leak", generator::slow_leak, 6},
    {"actor_and_critic", generator::actor_and_critic, 8},
    {"prefetched_batches", generator::prefetched_batches, 8},
    {"federated_rounds", generator::federated_rounds, 8},
    {"growing_cache", generator::growing_cache, 8},
    {"random_graphs", generator::random_graphs, 5},
    {"server", generator::server, 5},
}};

const Family& draw_family(Draws& draws) {
  std::uint64_t all = 0;
  for (const Family& family : kFamilies) {
    all += family.share;
  }
  std::uint64_t drawn = draws.below(all);
  for (const Family& family : kFamilies) {
    if (drawn < family.share) return family;
    drawn -= family.share;
  }
  return kFamilies.back();
}

}  // namespace

GeneratedJob generate_job(std::uint64_t seed) {
  Draws draws(seed);
  const Family& family = draw_family(draws);
  const std::uint64_t wanted = draws.between(900, 1200);
  // Recording ends after a step, or wherever the job happened to be.
  const bool mid_step = draws.one_in(5);
  Tape tape;
  const generator::Step step = family.begin(tape, draws);
  GeneratedJob job;
  job.family = family.name;
  const auto run_until = [&](std::uint64_t requests) {
    while (tape.requests() < requests || job.steps.size() < kFewestSteps) {
      job.steps.push_back(static_cast<std::uint32_t>(tape.operations()));
      step();
    }
  };
  run_until(wanted);
  const std::size_t within = tape.operations() - job.steps.back();
  job.recorded = tape.first(tape.operations() - (mid_step ? within / 2 : 0));
  run_until(4 * job.recorded.requests);
  job.whole = tape.first(tape.operations());
  return job;
}

std::vector<std::string> job_families() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) {
    names.emplace_back(family.name);
  }
  return names;
}

}  // namespace ebb::replay
