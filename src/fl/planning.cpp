// SPDX-License-Identifier: Apache-2.0
#include "fl/planning.h"

#include <algorithm>
#include <thread>

#include "base/bytes.h"
#include "fl/aggregate/aggregator.h"
#include "fl/aggregate/control_variates.h"
#include "fl/network_shape.h"
#include "sense/memory_info.h"

namespace ebb::fl {
namespace {

/// A round's report, in memory until the end: numbers, and two lists of clients.
std::uint64_t report_bytes(const Config& config) {
  return sizeof(RoundReport) + 2 * std::uint64_t{config.per_round} * sizeof(std::uint32_t);
}

/// What is known of a client, with what its method looks at.
std::uint64_t client_bytes(const Config& config, const SimulationResources& resources) {
  std::uint64_t bytes = sizeof(Client) + World::kBytesPerClient;
  const auto selector = create_selector(config.method, config.method_parameters);
  if (selector && (*selector)->needs_labels())
    bytes += resources.data->classes * sizeof(std::uint32_t);
  if (selector && (*selector)->needs_sketches()) bytes += kSketchLength * sizeof(float);
  return bytes;
}

/// Samples in the order of their owners, or of their labels where they are shared.
std::uint64_t partition_bytes(const Config& config, const SimulationResources& resources) {
  const bool all_alike =
      config.partition.kind == PartitionKind::mix && config.partition.sizes == SizeSkew::none;
  const std::uint64_t clients = all_alike ? 0 : config.clients;
  return (resources.data->train.size() + clients) * sizeof(std::uint32_t);
}

/// What is found of each client, its two scores, and one kind of them in order.
std::uint64_t evaluation_bytes(const Config& config) {
  return std::uint64_t{config.clients} *
         (sizeof(std::uint32_t) + 2 * sizeof(std::int64_t) + 3 * sizeof(double));
}

/// Control variates: what the server has of them, the file of the clients', what ranks tell each
/// other, and what a checkpoint has more.
struct ControlsNeed {
  std::uint64_t server = 0;
  std::uint64_t on_disk = 0;
  std::uint64_t on_their_way = 0;
  std::uint64_t in_checkpoint = 0;
};

ControlsNeed controls_need(const Config& config, const Execution& execution,
                           const SimulationResources& resources, const NetworkShape& shape) {
  if (config.aggregation.rule != Rule::scaffold) return {};
  const bool has_folder = !execution.folder.empty() && resources.ranks->is_first();
  return {ControlVariates::memory_of({shape.elements, config.clients, config.per_round}),
          ClientRows::bytes_of(has_folder, config.clients, shape.elements),
          resources.ranks->size() > 1 ? shape.elements * (sizeof(float) + sizeof(std::int64_t)) : 0,
          shape.elements * sizeof(float) + config.clients * sizeof(std::uint64_t)};
}

struct Available {
  std::uint64_t bytes = 0;
  std::string from;
};

/// What this process may grow to.
base::Result<Available> available(const Execution& execution) {
  if (execution.memory) return Available{*execution.memory, "--memory"};
  const auto info = sense::memory_info();
  if (!info) return info.error();
  const double free = static_cast<double>(info->limit) * (100 - info->fullest_percent) / 100;
  return Available{static_cast<std::uint64_t>(std::max(free, 0.0)) + info->process.rss,
                   std::string("free memory under the ") + sense::name_of(info->source) + " limit"};
}

/// What is there whoever trains, and where.
std::vector<MemoryItem> fixed_items(const Config& config, const Execution& execution,
                                    const SimulationResources& resources,
                                    const NetworkShape& shape) {
  const std::uint64_t model = shape.elements * sizeof(float);
  const AggregatorNeed aggregator = need_of(
      config.aggregation, {shape.elements, config.per_round, 1, config.world.staleness, ""});
  const ControlsNeed controls = controls_need(config, execution, resources, shape);
  const std::uint64_t data = resources.data->bytes();
  const std::uint64_t rss = resources.cleaner->rss().value_or(0);
  return {
      {kProgramItem, rss > data ? rss - data : 0},
      {kDataItem, data},
      {"partition", partition_bytes(config, resources)},
      {"clients", config.clients * client_bytes(config, resources)},
      {"global model", model},
      {"accumulator", aggregator.accumulators},
      {"server state", aggregator.server_state},
      {"control variate of the server", controls.server},
      {"control variates on their way", controls.on_their_way},
      {"evaluation of clients", config.eval_clients_every > 0 ? evaluation_bytes(config) : 0},
      {"reports of rounds", config.rounds * report_bytes(config)},
      {"checkpoint while it is written",
       execution.folder.empty() ? 0
                                : 2 * (model + aggregator.accumulators + aggregator.server_state +
                                       controls.in_checkpoint)},
      {"updates of a round", aggregator.spill, false, true},
      {"control variates of clients", controls.on_disk, false, true},
  };
}

/// In which order a client visits its samples, where that is more than the samples themselves.
std::uint64_t order_bytes(const Config& config) {
  return config.local_steps.value_or(0) * config.batch * sizeof(std::uint32_t);
}

/// What training takes, on the card or on the host.
base::Status add_training(const Config& config, const SimulationResources& resources,
                          const NetworkShape& shape, MemoryPlan& plan) {
  const std::uint64_t model = shape.elements * sizeof(float);
  const bool scaffold = config.aggregation.rule == Rule::scaffold;
  plan.items.push_back({"order of samples of a client", order_bytes(config), true});
  if (resources.card_available == 0) {
    const auto step = step_bytes(resources.network, config.batch);
    if (!step) return step.error();
    plan.items.push_back({"training of a client", *step, true});
    plan.items.push_back({"model of a client", model, true});
    plan.items.push_back({"correction of a client", scaffold ? model : 0, true});
    return {};
  }
  // The host takes the clients' models one after the other, where it takes them at all.
  plan.items.push_back({"model of a client", model});
  plan.items.push_back(
      {"correction of a client", scaffold ? (1 + 2 * kLearnedTogether) * model : 0});
  plan.items.push_back({"sums on their way", std::min(2 * model, kSumsOnTheirWayBytes)});
  plan.items.push_back({"batches on their way", resources.card_use.pinned});
  const std::vector<MemoryItem>& on_card = resources.card_use.items;
  plan.items.insert(plan.items.end(), on_card.begin(), on_card.end());
  plan.card_available = resources.card_available;
  return {};
}

/// How many clients the host trains at a time. Code::bad_input where not even one fits: what was
/// planned shall not pass a threshold.
base::Result<std::uint32_t> clients_that_fit(const MemoryPlan& plan, const Config& config,
                                             const Execution& execution) {
  const auto usable = static_cast<std::uint64_t>(static_cast<double>(plan.available) *
                                                 execution.warn_percent / 100);
  const std::uint64_t fixed = plan.fixed();
  const std::uint64_t each = std::max<std::uint64_t>(plan.per_client(), 1);
  if (fixed + each > usable) {
    const auto needed = static_cast<std::uint64_t>(static_cast<double>(fixed + each) * 100 /
                                                   execution.warn_percent);
    return base::error(base::Code::bad_input,
                       "%s allows %s, but one client at a time needs %s (%s in all, below %.0f %%)",
                       plan.available_from.c_str(), base::bytes_text(plan.available).c_str(),
                       base::bytes_text(needed).c_str(), base::bytes_text(fixed + each).c_str(),
                       execution.warn_percent);
  }
  const std::uint64_t fits = (usable - fixed) / each;
  const std::uint64_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t wanted = execution.parallel_clients > 0 ? execution.parallel_clients : cores;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, std::min({fits, wanted, std::uint64_t{config.per_round}})));
}

}  // namespace

base::Result<MemoryPlan> plan_memory(const Config& config, const Execution& execution,
                                     const SimulationResources& resources) {
  const auto shape = shape_of(resources.network);
  if (!shape) return shape.error();
  const auto room = available(execution);
  if (!room) return room.error();
  MemoryPlan plan;
  plan.items = fixed_items(config, execution, resources, *shape);
  if (const auto added = add_training(config, resources, *shape, plan); !added)
    return added.error();
  std::erase_if(plan.items, [](const MemoryItem& item) { return item.bytes == 0; });
  plan.available = room->bytes;
  plan.available_from = room->from;
  const auto clients = clients_that_fit(plan, config, execution);
  if (!clients) return clients.error();
  plan.parallel_clients = resources.card_available > 0 ? resources.trainer->together() : *clients;
  return plan;
}

}  // namespace ebb::fl
