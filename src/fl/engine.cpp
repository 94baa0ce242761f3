// SPDX-License-Identifier: Apache-2.0
#include "fl/engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/sha256.h"
#include "fl/local_work.h"
#include "fl/stopwatch.h"

namespace ebb::fl {
namespace {

/// Sums of updates are exact below it.
constexpr double kMostWeight = 0x1p32;

/// What the weights of a round can add up to.
double largest_weight_of(const Config& config, const Holdings& holdings) {
  const bool all = config.privacy.sampling == Sampling::poisson;
  const std::uint32_t cohort = all ? config.clients : config.per_round;
  const auto samples = static_cast<double>(holdings.most_of(config.per_round));
  return std::max(samples, static_cast<double>(cohort)) * (1 + config.world.staleness);
}

/// A control variate goes with each model, there and back.
std::uint64_t sent_with(const Config& config) {
  return config.aggregation.rule == Rule::scaffold ? 2 : 1;
}

}  // namespace

base::Result<std::unique_ptr<Engine>> Engine::create(const Config& config,
                                                     const Execution& execution,
                                                     SimulationResources& resources,
                                                     std::uint32_t parallel_clients) {
  auto shape = shape_of(resources.network);
  if (!shape) return shape.error();
  const DataSet& data = *resources.data;
  auto holdings = Holdings::create(data, config.clients, config.partition, config.seed);
  if (!holdings) return holdings.error();
  if (const double weight = largest_weight_of(config, *holdings); !(weight < kMostWeight))
    return base::error(base::Code::bad_input,
                       "the clients of a round may have %.0f samples, expected fewer than 2^32",
                       weight);
  std::vector<std::uint64_t> visited;
  visited.reserve(config.clients);
  for (std::uint32_t client = 0; client < config.clients; ++client)
    visited.push_back(local_work(config, holdings->size_of(client)).visited);
  const Workload workload{shape->flops_per_sample(),
                          shape->elements * sizeof(float) * sent_with(config)};
  auto world = World::create(config.world, workload, visited, config.seed);
  if (!world) return world.error();
  auto selector =
      create_selector(config.method, config.method_parameters, {config.candidates, config.seed});
  if (!selector) return selector.error();
  std::unique_ptr<Engine> engine(new Engine(config, execution, resources, parallel_clients,
                                            std::move(*holdings), std::move(*shape),
                                            std::move(*world), std::move(*selector)));
  return engine;
}

Engine::Engine(const Config& config, const Execution& execution, SimulationResources& resources,
               std::uint32_t parallel_clients, Holdings holdings, NetworkShape shape, World world,
               std::unique_ptr<Selector> selector)
    : config_(config),
      resources_(resources),
      holdings_(std::move(holdings)),
      shape_(std::move(shape)),
      world_(std::move(world)),
      selector_(std::move(selector)),
      population_(holdings_, *resources.data, selector_->needs_labels()),
      privacy_(config),
      gate_(execution, *resources.cleaner),
      patience_(resources.card.get()),
      workers_(parallel_clients, [this](std::uint32_t now) { return gate_.allowed(now); }),
      groups_{resources.trainer->together(), resources.card_use.evaluated},
      clip_(config.privacy.clip),
      memory_(resources.trainer->memory_of_a_model()),
      weights_(memory_.get(), shape_.elements),
      trained_(parallel_clients),
      corrections_(parallel_clients) {
  resources.trainer->initialise(config.seed, weights_);
}

base::Status Engine::open(const std::string& folder) {
  if (auto agreed = agree_on_groups(); !agreed) return agreed;
  auto aggregator = create_aggregator(config_.aggregation, {shape_.elements, config_.per_round,
                                                            largest_weight_of(config_, holdings_),
                                                            config_.world.staleness, folder});
  if (!aggregator) return aggregator.error();
  aggregator_ = std::move(*aggregator);
  // Only who writes them follows changes: nobody else would ever let go of them.
  if (config_.clients > kMostClientsInCheckpoint && !folder.empty() &&
      resources_.ranks->is_first()) {
    log_ = ClientLog(folder + "/clients");
    population_.follow_changes();
  }
  if (config_.aggregation.rule != Rule::scaffold) return {};
  auto controls =
      ControlVariates::create({shape_.elements, config_.clients, config_.per_round}, folder);
  if (!controls) return controls.error();
  controls_ = std::move(*controls);
  return {};
}

bool Engine::is_mine(std::size_t item) const {
  return item % resources_.ranks->size() == resources_.ranks->rank();
}

double Engine::visited_by(std::uint32_t client) const {
  return static_cast<double>(local_work(config_, holdings_.size_of(client)).visited);
}

base::Result<std::vector<std::uint32_t>> Engine::choose_cohort(RoundReport& report) {
  if (config_.privacy.sampling == Sampling::poisson) return draw_cohort();
  Random random(config_.seed, Purpose::selection, round_);
  const Choice::Probe ask = [&](std::span<const std::uint32_t> clients) {
    report.probed += static_cast<std::uint32_t>(clients.size());
    return probe(clients);
  };
  const Choice choice{
      round_, config_.per_round, population_.clients(), config_.world.deadline, random, ask};
  auto cohort = selector_->select(choice);
  if (!cohort) return cohort;
  const std::set<std::uint32_t> distinct(cohort->begin(), cohort->end());
  if (cohort->size() != config_.per_round || distinct.size() != cohort->size() ||
      *distinct.rbegin() >= config_.clients)
    return base::error(base::Code::internal, "method '%s' chose no cohort of %u different clients",
                       config_.method.c_str(), config_.per_round);
  return cohort;
}

base::Status Engine::aggregate() {
  if (config_.workflow == Workflow::cyclic) return {};
  Aggregator::Noise noise;
  if (config_.privacy.on()) {
    noise.deviation = sum_noise_of(config_.privacy, config_.per_round) * clip_;
    noise.seed = config_.seed;
    noise.round = round_;
    noise.denominator = static_cast<double>(config_.per_round);
  }
  return aggregator_->finish_round(weights_, *resources_.ranks, noise);
}

void Engine::learn(const std::vector<Member>& members, RoundReport& report) {
  for (const Member& member : members) {
    if (!member.fate.arrives) continue;
    late_.push_back({round_ + member.fate.late,
                     {member.client, round_, member.result.loss, member.result.loss_rms,
                      member.gradient_norm, member.sketch}});
  }
  std::erase_if(late_, [&](const Late& one) {
    if (one.due > round_) return false;
    population_.learn(one.client);
    report.took_part.push_back(one.client.client);
    return true;
  });
  selector_->learn({round_, report.took_part, population_.clients()});
  report.participation = population_.participation();
}

void Engine::account(const std::vector<Member>& members, RoundReport& report) {
  const double model = static_cast<double>(shape_.elements * sizeof(float) * sent_with(config_));
  double loss = 0;
  double samples = 0;
  for (const Member& member : members) {
    // Whoever is chosen receives the model, whatever becomes of the answer.
    totals_.communicated_bytes += model;
    if (!member.fate.arrives) continue;
    const double own = static_cast<double>(holdings_.size_of(member.client));
    totals_.communicated_bytes += model;
    totals_.flops += visited_by(member.client) * shape_.flops_per_sample();
    totals_.energy += world_.condition(member.client).energy;
    loss += own * member.result.loss;
    samples += own;
  }
  if (config_.workflow == Workflow::cyclic) {
    for (const std::uint32_t client : report.cohort)
      totals_.simulated_seconds += world_.condition(client).seconds;
  } else {
    totals_.simulated_seconds += world_.round_seconds(report.cohort);
  }
  if (config_.workflow == Workflow::swarm) {
    Random random(config_.seed, Purpose::workflow, round_);
    report.aggregator = report.cohort[random.below(report.cohort.size())];
    // It need not send its own update to itself.
    totals_.communicated_bytes -= model;
  }
  report.train_loss = samples > 0 ? loss / samples : 0;
  report.communicated_bytes = totals_.communicated_bytes;
  report.flops = totals_.flops;
  report.simulated_seconds = totals_.simulated_seconds;
  report.energy = totals_.energy;
  report.epsilon = privacy_.after(round_ + 1);
}

base::Status Engine::train_and_measure(std::vector<Member>& members, RoundReport& report) {
  adding_ns_ = 0;
  double seconds = 0;
  const std::uint32_t threads = std::min(workers_.now(), config_.per_round);
  base::Status done;
  {
    const Stopwatch watch(seconds);
    done = train_cohort(members);
    if (done) done = exchange(members);
  }
  // Threads add up what they have trained: what one spent on it, on average.
  report.sums_seconds = std::min(static_cast<double>(adding_ns_) * 1e-9 / threads, seconds);
  report.training_seconds = seconds - report.sums_seconds;
  return done;
}

base::Result<RoundReport> Engine::run_round(const Steps& steps) {
  RoundReport report;
  report.round = round_;
  report.lr = learning_rate(config_, round_);
  {
    const Stopwatch watch(report.selection_seconds);
    world_.move_to(round_);
    population_.meet(world_);
    auto cohort = choose_cohort(report);
    if (!cohort) return cohort.error();
    report.cohort = std::move(*cohort);
    population_.choose(report.cohort);
  }
  std::vector<Member> members;
  for (const std::uint32_t client : report.cohort)
    members.push_back({.client = client, .fate = world_.fate(client), .result = {}, .sketch = {}});
  if (auto trained = train_and_measure(members, report); !trained) return trained.error();
  steps.trained();
  {
    const Stopwatch watch(report.sums_seconds);
    if (auto aggregated = aggregate(); !aggregated) return aggregated.error();
    if (auto finished = finish_controls(members); !finished) return finished.error();
  }
  if (config_.workflow != Workflow::cyclic) steps.aggregated();
  adapt_clip(members, report);
  account(members, report);
  learn(members, report);

  const bool is_last = round_ + 1 == config_.rounds;
  if (is_last || (round_ + 1) % config_.eval_every == 0) {
    const Stopwatch watch(report.evaluation_seconds);
    const auto scores = evaluate();
    if (!scores) return scores.error();
    report.scores = *scores;
  }
  const std::uint32_t every = config_.eval_clients_every;
  if (every > 0 && (is_last || (round_ + 1) % every == 0)) {
    const Stopwatch watch(report.evaluation_seconds);
    const auto scores = evaluate_clients();
    if (!scores) return scores.error();
    report.client_scores = *scores;
  }
  if (auto agreed = agree_on_groups(); !agreed) return agreed.error();
  ++round_;
  return report;
}

std::string Engine::model_sha256() const {
  base::Sha256 hash;
  hash.add(weights_.data(), weights_.size() * sizeof(float));
  return base::hex_text(hash.finish());
}

}  // namespace ebb::fl
