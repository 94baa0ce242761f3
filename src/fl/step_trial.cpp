// SPDX-License-Identifier: Apache-2.0
#include "fl/step_trial.h"

#include <algorithm>
#include <latch>
#include <numeric>
#include <system_error>
#include <thread>

#include "fl/planning.h"
#include "sense/process.h"

namespace ebb::fl {
namespace {

// As many as are evaluated in one go.
constexpr std::uint32_t kEvaluated = 256;

std::vector<std::uint32_t> first_samples(std::uint32_t most, const Split& split) {
  std::vector<std::uint32_t> samples(std::min<std::size_t>(most, split.size()));
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

/// A batch and an evaluation, on all threads at the same time.
base::Status one_step(const Config& config, const SimulationResources& resources,
                      std::uint32_t threads) {
  Trainer& trainer = *resources.trainer;
  const auto batch = first_samples(config.batch, resources.data->train);
  const auto test = first_samples(kEvaluated, resources.data->test);
  std::vector<float> weights(trainer.parameters());
  trainer.initialise(config.seed, weights);
  LocalTask task;
  task.order = batch;
  task.batch = config.batch;
  task.lr = config.lr;
  if (trainer.together() > 1) {
    return trainer.train_together(
        weights, std::span(&task, 1), [](auto, auto&) { return base::Status{}; }, nullptr);
  }
  std::vector<std::vector<float>> trained(threads, weights);
  std::vector<base::Status> done(threads);
  std::latch all_are_there(1);
  std::vector<std::thread> others;
  const auto step = [&](std::uint32_t slot) {
    all_are_there.wait();
    // Weights that are not finite are no matter here.
    const auto result = trainer.train(slot, weights, task, trained[slot]);
    if (!result && result.error().code == base::Code::out_of_memory) done[slot] = result.error();
    const auto evaluated = trainer.evaluate(slot, weights, resources.data->test, test);
    if (!evaluated) done[slot] = evaluated.error();
  };
  base::Status started;
  try {
    for (std::uint32_t slot = 1; slot < threads; ++slot)
      others.emplace_back(step, slot);
  } catch (const std::system_error& failure) {
    started = base::error(base::Code::out_of_memory, "no more threads: %s", failure.what());
  }
  all_are_there.count_down();
  step(0);
  for (std::thread& other : others)
    other.join();
  for (const base::Status& status : done)
    if (!status) return status;
  return started;
}

/// What the plan has beyond what a step has mapped.
std::uint64_t beyond_a_step(const MemoryPlan& plan) {
  std::uint64_t bytes = 0;
  for (const MemoryItem& item : plan.items) {
    const bool is_there = item.purpose == kProgramItem || item.purpose == kDataItem;
    if (!is_there && !item.per_client && !item.on_card) bytes += item.bytes;
  }
  return bytes;
}

}  // namespace

base::Result<Mappings> mappings_of_a_step(const Config& config, const Execution& execution,
                                          const SimulationResources& resources) {
  const auto plan = plan_memory(config, execution, resources);
  if (!plan) return plan.error();
  if (const auto done = one_step(config, resources, plan->parallel_clients); !done)
    return done.error();
  const auto reading = sense::read_process();
  if (!reading) return reading.error();
  const std::uint64_t peak = reading->virtual_peak.value_or(reading->virtual_size);
  const std::uint64_t beyond = beyond_a_step(*plan);
  // The kernel keeps no peak of writable memory: what was mapped beside it, was perhaps of it.
  return Mappings{peak + beyond,
                  reading->data.value_or(0) + (peak - reading->virtual_size) + beyond};
}

}  // namespace ebb::fl
