// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "fl/planning.h"
#include "fl/simulation.h"
#include "fl/torch/backend.h"
#include "fl/torch/card_kernels.h"
#include "fl/torch/torch_card.h"
#include "fl/torch/torch_trainer.h"
#include "sense/gpu.h"

namespace ebb::fl {
namespace {

/// Steps by which back ends are compared, after one that warms up: it loads and compiles what a
/// back end needs, which takes a card a second and more.
constexpr std::uint32_t kTrialSteps = 8;
/// A back end whose second step takes longer is not tried any further.
constexpr double kSlowStep = 0.25;

base::Result<std::shared_ptr<const DataSet>> load(const Config& config,
                                                  const Execution& execution) {
  if (data_source(config.dataset) == DataSource::files)
    return load_data_set(config.dataset, execution.data_folder);
  SyntheticOptions options = config.synthetic;
  options.seed = config.seed;
  return synthetic_data_set(options);
}

/// Seconds of one step with this back end.
base::Result<double> time_of(Backend backend, const Config& config, const plan::Network& network,
                             const std::shared_ptr<const DataSet>& data) {
  auto trainer = TorchTrainer::create(network, data, backend, {.holds_data = false});
  if (!trainer) return trainer.error();
  std::vector<float> weights((*trainer)->parameters());
  (*trainer)->initialise(config.seed, weights);
  const auto batch =
      static_cast<std::uint32_t>(std::min<std::size_t>(config.batch, data->train.size()));
  std::vector<std::uint32_t> samples(batch);
  std::iota(samples.begin(), samples.end(), 0U);
  LocalTask task;
  task.order = samples;
  task.batch = batch;
  task.lr = 0;
  double best = 0;
  for (std::uint32_t step = 0; step <= kTrialSteps; ++step) {
    const std::int64_t start = base::system_clock().now_ns();
    const auto done = (*trainer)->train(0, weights, task, weights);
    if (!done) return done.error();
    const double seconds = base::seconds_between(start, base::system_clock().now_ns());
    if (step == 1 || (step > 1 && seconds < best)) best = seconds;
    if (step == 1 && seconds > kSlowStep) break;
  }
  return best;
}

/// The faster one here. Every rank uses what the first one finds.
base::Result<Backend> chosen_backend(const Config& config, const plan::Network& network,
                                     const std::shared_ptr<const DataSet>& data, Ranks& ranks) {
  if (config.backend != "auto") return backend_from(config.backend);
  const std::vector<Backend> here = backends_here();
  std::array<std::byte, 1> choice{};
  if (ranks.is_first()) {
    double best = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const auto seconds = time_of(here[i], config, network, data);
      if (!seconds) return seconds.error();
      if (i > 0 && *seconds >= best) continue;
      best = *seconds;
      choice[0] = static_cast<std::byte>(i);
    }
  }
  if (auto told = ranks.broadcast(choice); !told) return told.error();
  const auto index = std::to_integer<std::size_t>(choice[0]);
  if (index >= here.size())
    return base::error(base::Code::unavailable, "the first rank's back end is not on this machine");
  return here[index];
}

/// What may be used of the card that trains, in bytes.
base::Result<std::uint64_t> free_on_card() {
  const auto meter = sense::GpuMeter::open();
  if (!meter) return meter.error();
  const auto cards = meter->read();
  if (!cards) return cards.error();
  const std::uint64_t free = cards->empty() ? 0 : cards->front().free.value_or(0);
  // CUDA's context and its libraries need some of it, too.
  return free / 10 * 9;
}

/// Whether the environment does not forbid it.
bool may(const char* variable) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr || std::string_view(wanted) != "0";
}

CardWork work_of(const Config& config) {
  const auto selector = create_selector(config.method, config.method_parameters);
  return {.corrects = config.aggregation.rule == Rule::scaffold,
          .sketches = selector && (*selector)->needs_sketches(),
          .may_hold_data = may("EBB_CARD_DATA"),
          .may_prefetch = may("EBB_CARD_PREFETCH")};
}

}  // namespace

base::Result<SimulationResources> load_resources(const Config& config, const Execution& execution,
                                                 keep::Cleaner& cleaner,
                                                 std::unique_ptr<Ranks> ranks) {
  const std::int64_t start = base::system_clock().now_ns();
  auto data = load(config, execution);
  if (!data) return data.error();
  auto network = network_of(config, (*data)->picture, (*data)->classes);
  if (!network) return network.error();
  const auto backend = chosen_backend(config, *network, *data, *ranks);
  if (!backend) return backend.error();
  const bool on_card = *backend == Backend::cuda;
  // CUDA's libraries load with the first step: after it their memory is there to be planned with.
  if (on_card) {
    if (const auto step = time_of(*backend, config, *network, *data); !step) return step.error();
    empty_device_cache();
  }
  // What the trials leave behind would stand below the peak of every round.
  cleaner.clean({.deep = true});
  base::Result<std::uint64_t> available = 0;
  base::Result<CardUse> use = CardUse();
  if (on_card) {
    available = free_on_card();
    if (!available) return available.error();
    // As many as were asked for; else this rank's part of a round.
    const std::uint32_t part = (config.per_round - 1) / ranks->size() + 1;
    const std::uint32_t asked = std::min(config.per_round, execution.parallel_clients);
    const std::uint32_t wanted = asked > 0 ? asked : part;
    use = card_use(*network, config.batch, wanted, **data, *available, work_of(config));
    if (!use) return use.error();
  }
  auto trainer = TorchTrainer::create(*network, *data, *backend, *use);
  if (!trainer) return trainer.error();
  SimulationResources resources;
  resources.data = std::move(*data);
  resources.network = std::move(*network);
  resources.trainer = std::move(*trainer);
  resources.ranks = std::move(ranks);
  resources.cleaner = &cleaner;
  resources.card_available = *available;
  resources.card_use = std::move(*use);
  if (on_card) {
    resources.card = torch_card();
    resources.warning = CardKernels::line_of_their_absence();
  }
  resources.setup_seconds = base::seconds_between(start, base::system_clock().now_ns());
  return resources;
}

}  // namespace ebb::fl
