// SPDX-License-Identifier: Apache-2.0
#include "fl/simulation.h"

#include <numeric>
#include <utility>

#include "base/file.h"
#include "fl/torch/workbench.h"
#include "support/own_process.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

class SimulationTest : public Workbench {};

TEST_F(SimulationTest, Learns) {
  config_.rounds = 15;
  config_.lr = 0.05;
  const SimulationResult result = run(config_, on_threads(2));
  ASSERT_EQ(result.rounds.size(), 15U);
  ASSERT_TRUE(result.untrained);
  EXPECT_LT(result.untrained->accuracy, 0.35);
  EXPECT_GT(result.rounds.back().scores->accuracy, result.untrained->accuracy + 0.2);
  EXPECT_LT(result.rounds.back().scores->loss, result.untrained->loss);
}

TEST_F(SimulationTest, EvaluatesWhenAskedAndAtTheEnd) {
  config_.rounds = 5;
  config_.eval_every = 2;
  const SimulationResult result = run(config_, on_threads(1));
  std::vector<bool> evaluated;
  for (const RoundReport& report : result.rounds)
    evaluated.push_back(report.scores.has_value());
  EXPECT_EQ(evaluated, (std::vector<bool>{false, true, false, true, true}));
}

TEST_F(SimulationTest, EvaluatesTheModelForEachClientWhenAskedAndAtTheEnd) {
  config_.rounds = 5;
  const SimulationResult without = run(config_, on_threads(1));
  EXPECT_FALSE(without.rounds.back().client_scores);
  config_.eval_clients_every = 2;
  const SimulationResult result = run(config_, on_threads(1));
  EXPECT_EQ(result.model_sha256, without.model_sha256);
  EXPECT_EQ(result.rounds.back().flops, without.rounds.back().flops) << "nobody trains for it";
  std::vector<bool> evaluated;
  for (const RoundReport& report : result.rounds)
    evaluated.push_back(report.client_scores.has_value());
  EXPECT_EQ(evaluated, (std::vector<bool>{false, true, false, true, true}));
  const ClientScores& last = *result.rounds.back().client_scores;
  EXPECT_LE(last.accuracy.worst_tenth, last.accuracy.mean);
  EXPECT_GE(last.loss.worst_tenth, last.loss.mean);
  EXPECT_GT(last.accuracy.deviation, 0) << "labels are skewed";
  const auto planned = [](const SimulationResult& of) {
    for (const MemoryItem& item : of.plan.items)
      if (item.purpose == "evaluation of clients") return item.bytes;
    return std::uint64_t{0};
  };
  EXPECT_GT(planned(result), 0U);
  EXPECT_EQ(planned(without), 0U);
}

TEST_F(SimulationTest, EvaluatesForClientsWhatItDoesForTheirSamplesByThemselves) {
  // One client has all samples: what it is told is what the trainer says of them.
  config_.clients = 1;
  config_.per_round = 1;
  config_.eval_clients_every = 1;
  config_.lr = 1e-30;
  const SimulationResult result = run(config_, on_threads(1));
  auto resources = load_resources(config_, on_threads(1), cleaner_, alone());
  ASSERT_TRUE(resources);
  std::vector<float> weights(resources->trainer->parameters());
  resources->trainer->initialise(config_.seed, weights);
  std::vector<std::uint32_t> all(config_.synthetic.train);
  std::iota(all.begin(), all.end(), 0U);
  const auto direct = resources->trainer->evaluate(0, weights, resources->data->train, all);
  ASSERT_TRUE(direct);
  const ClientScores& scores = *result.rounds.back().client_scores;
  EXPECT_EQ(scores.accuracy.mean, direct->accuracy());
  EXPECT_NEAR(scores.loss.mean, direct->loss(), 1e-6);
  EXPECT_EQ(scores.accuracy.deviation, 0);
}

TEST_F(SimulationTest, LeavesTheModelAsItIsWhereNobodyAnswers) {
  config_.world.deadline = 1e-9;
  const SimulationResult result = run(config_, on_threads(2));
  ASSERT_EQ(result.rounds.size(), 3U);
  for (const RoundReport& report : result.rounds) {
    EXPECT_TRUE(report.took_part.empty());
    EXPECT_EQ(report.scores->loss, result.untrained->loss);
  }
}

TEST_F(SimulationTest, CountsWhatIsSentAndComputed) {
  config_.workflow = Workflow::swarm;
  const SimulationResult result = run(config_, on_threads(1));
  const RoundReport& first = result.rounds.front();
  ASSERT_TRUE(first.aggregator);
  EXPECT_NE(std::find(first.cohort.begin(), first.cohort.end(), *first.aggregator),
            first.cohort.end());
  config_.workflow = Workflow::server;
  const SimulationResult with_server = run(config_, on_threads(1));
  EXPECT_LT(first.communicated_bytes, with_server.rounds.front().communicated_bytes)
      << "the aggregator does not send to itself";
  EXPECT_GT(first.flops, 0);
  EXPECT_GT(result.rounds[1].flops, first.flops);
}

TEST_F(SimulationTest, CleansUpWhereNvflareDoesIfAsked) {
  int cleanups = 0;
  cleaner_.observe([&](const fact::Cleanup&) { ++cleanups; });
  config_.rounds = 6;
  Execution execution = on_threads(1);
  execution.heavy_gc_rounds = 0;
  struct FromTheFirstRound final : Observer {
    explicit FromTheFirstRound(int& count) : cleanups(count) {}
    void begins(const SimulationResult&) override { cleanups = 0; }
    int& cleanups;
  } observer(cleanups);
  const auto cleanups_of = [&](Workflow workflow, const NvflareSettings& settings) {
    config_.workflow = workflow;
    execution.nvflare = settings;
    run(config_, execution, observer);
    return cleanups;
  };
  const auto settings = [](std::optional<int> server, std::optional<int> client,
                           std::optional<int> both = std::nullopt) {
    return NvflareSettings{server, client, both, std::nullopt};
  };
  EXPECT_EQ(cleanups_of(Workflow::server, {}), 6) << "its own default: after each round";
  EXPECT_EQ(cleanups_of(Workflow::server, settings(2, std::nullopt)), 3);
  EXPECT_EQ(cleanups_of(Workflow::server, settings(2, 1)), 9);
  EXPECT_EQ(cleanups_of(Workflow::server, settings(0, std::nullopt)), 0);
  EXPECT_EQ(cleanups_of(Workflow::cyclic, settings(3, std::nullopt)), 2);
  EXPECT_EQ(cleanups_of(Workflow::swarm, settings(std::nullopt, std::nullopt, 3)), 4);
  EXPECT_EQ(cleanups_of(Workflow::swarm, settings(std::nullopt, 6, 3)), 3);
}

TEST_F(SimulationTest, CleansUpInItsRoundsAndEmptiesDeviceCachesInHeavyOnes) {
  struct Counted final : base::Reclaimer {
    base::Reclaimed reclaim() override {
      ++count;
      return {};
    }
    int count = 0;
  };
  const auto host = std::make_shared<Counted>();
  const auto device = std::make_shared<Counted>();
  reclaimers_.add("host", base::Stage::cache, host);
  reclaimers_.add("device", base::Stage::device_cache, device);
  struct ByRound final : Observer {
    ByRound(Counted& a, Counted& b) : host(a), device(b) {}
    void begins(const SimulationResult&) override { host.count = device.count = 0; }
    void round_done(const RoundReport&) override {
      hosts.push_back(std::exchange(host.count, 0));
      devices.push_back(std::exchange(device.count, 0));
    }
    Counted& host;
    Counted& device;
    std::vector<int> hosts;
    std::vector<int> devices;
  };
  config_.rounds = 6;
  const auto by_round = [&](int light, int heavy, std::optional<bool> empties = {}) {
    Execution execution = on_threads(1);
    execution.gc_rounds = light;
    execution.heavy_gc_rounds = heavy;
    execution.nvflare.cuda_empty_cache = empties;
    ByRound seen(*host, *device);
    run(config_, execution, seen);
    return std::pair(seen.hosts, seen.devices);
  };
  using Counts = std::vector<int>;
  EXPECT_EQ(by_round(1, 3), std::pair(Counts(6, 1), Counts({0, 0, 1, 0, 0, 1})));
  EXPECT_EQ(by_round(2, 0), std::pair(Counts({0, 1, 0, 1, 0, 1}), Counts(6, 0)));
  EXPECT_EQ(by_round(0, 5), std::pair(Counts({0, 0, 0, 0, 1, 0}), Counts({0, 0, 0, 0, 1, 0})));
  EXPECT_EQ(by_round(1, 3, false).second, Counts(6, 0)) << "never, if told so";
  EXPECT_EQ(by_round(1, 3, true).second, Counts(6, 1)) << "always, if told so";
}

TEST_F(SimulationTest, TakesLateUpdatesInALaterRound) {
  config_.world.deadline = 0.06;
  config_.world.staleness = 2;
  config_.rounds = 4;
  const SimulationResult result = run(config_, on_threads(1));
  const auto has = [](const std::vector<std::uint32_t>& list, std::uint32_t client) {
    return std::find(list.begin(), list.end(), client) != list.end();
  };
  int late = 0;
  for (const RoundReport& report : result.rounds) {
    for (const std::uint32_t client : report.took_part)
      late += has(report.cohort, client) ? 0 : 1;
  }
  EXPECT_GT(late, 0);
}

TEST_F(SimulationTest, CountsAllUpdatesAlikeIfAsked) {
  config_.aggregation.weighting = Weighting::none;
  const SimulationResult alike = run(config_, on_threads(1));
  config_.aggregation.weighting = Weighting::samples;
  EXPECT_NE(run(config_, on_threads(1)).model_sha256, alike.model_sha256);
  // Under differential privacy they always do; here it clips nothing and adds nothing.
  config_.privacy = {.clip = 1e9, .noise = 0};
  EXPECT_EQ(run(config_, on_threads(1)).model_sha256, alike.model_sha256);
}

TEST_F(SimulationTest, TakesSoManyLocalSteps) {
  config_.partition.kind = PartitionKind::iid;  // 50 samples each: batches of 16, 16, 16, 2
  config_.epochs = 2;
  const SimulationResult passes = run(config_, on_threads(1));
  config_.epochs = 1;
  config_.local_steps = 8;
  const SimulationResult steps = run(config_, on_threads(1));
  EXPECT_EQ(steps.model_sha256, passes.model_sha256);
  EXPECT_EQ(steps.rounds.back().flops, passes.rounds.back().flops);
  EXPECT_EQ(steps.rounds.back().simulated_seconds, passes.rounds.back().simulated_seconds);
  config_.local_steps = 7;
  const SimulationResult fewer = run(config_, on_threads(1));
  EXPECT_NE(fewer.model_sha256, passes.model_sha256);
  EXPECT_NEAR(fewer.rounds.back().flops / passes.rounds.back().flops, 0.98, 1e-12);
  const auto& items = fewer.plan.items;
  const auto order = std::find_if(items.begin(), items.end(), [](const MemoryItem& item) {
    return item.purpose == "order of samples of a client";
  });
  ASSERT_NE(order, items.end());
  EXPECT_EQ(order->bytes, 7U * 16U * sizeof(std::uint32_t));
}

TEST_F(SimulationTest, TrainsWithTheRateOfItsRound) {
  config_.schedule.kind = ScheduleKind::step;
  config_.schedule.step_size = 1;
  config_.schedule.gamma = 0.5;
  const SimulationResult stepped = run(config_, on_threads(1));
  ASSERT_EQ(stepped.rounds.size(), 3U);
  EXPECT_EQ(stepped.rounds[0].lr, 0.01);
  EXPECT_EQ(stepped.rounds[2].lr, 0.0025);
  config_.schedule = {};
  const SimulationResult constant = run(config_, on_threads(1));
  EXPECT_EQ(constant.rounds[2].lr, 0.01);
  EXPECT_EQ(stepped.rounds[0].scores->loss, constant.rounds[0].scores->loss);
  EXPECT_NE(stepped.rounds[1].scores->loss, constant.rounds[1].scores->loss);
}

TEST_F(SimulationTest, SpendsPrivacyRoundByRound) {
  config_.privacy = {.clip = 1, .noise = 1};
  const SimulationResult result = run(config_, on_threads(1));
  ASSERT_TRUE(result.rounds[0].epsilon && result.rounds[2].epsilon);
  EXPECT_GT(*result.rounds[0].epsilon, 0);
  EXPECT_GT(*result.rounds[2].epsilon, *result.rounds[0].epsilon);
}

TEST_F(SimulationTest, ShowsNoPrivacyWhereNoTheoremHolds) {
  config_.privacy = {.clip = 1, .noise = 1};
  config_.method = "system_aware.oort";
  const SimulationResult result = run(config_, on_threads(1));
  EXPECT_FALSE(result.rounds.back().epsilon);
  const base::Json json = to_json(result);
  EXPECT_TRUE(json.find("privacy")->find("epsilon")->is_null());
  EXPECT_EQ(*json.find("privacy")->find("why_unknown")->as_string(),
            "system_aware.oort chooses clients by what it knows of them");
}

TEST_F(SimulationTest, HasItsNormFollowTheUpdates) {
  config_.privacy = {.clip = 1000, .noise = 0};
  config_.privacy.target_quantile = 0.5;
  config_.privacy.clip_lr = 1;
  config_.rounds = 40;
  const SimulationResult result = run(config_, on_threads(2));
  EXPECT_EQ(result.rounds[0].privacy->clip, 1000);
  EXPECT_EQ(result.rounds[0].privacy->share, 1.0) << "all are within";
  EXPECT_NEAR(result.rounds[1].privacy->clip, 1000 * std::exp(-0.5), 1e-9);
  int neither = 0;
  for (const RoundReport& report : result.rounds)
    neither += *report.privacy->share > 0 && *report.privacy->share < 1 ? 1 : 0;
  EXPECT_GT(neither, 5) << "later some are cut and some are not";
  EXPECT_GT(*result.clip, 0);
  EXPECT_LT(*result.clip, 10);
}

TEST_F(SimulationTest, DrawsEachClientByItselfIfAsked) {
  config_.privacy = {.clip = 1, .noise = 1e-3};
  config_.privacy.sampling = Sampling::poisson;
  config_.rounds = 40;
  config_.per_round = 1;
  const SimulationResult result = run(config_, on_threads(1));
  ASSERT_EQ(result.rounds.size(), 40U);
  std::set<std::size_t> sizes;
  double chosen = 0;
  for (const RoundReport& report : result.rounds) {
    sizes.insert(report.cohort.size());
    chosen += static_cast<double>(report.cohort.size());
  }
  EXPECT_TRUE(sizes.contains(0) && sizes.contains(2)) << "rounds without anybody, too";
  EXPECT_NEAR(chosen, 40, 20);
  EXPECT_NE(result.rounds[0].epsilon, std::nullopt);
}

TEST_F(SimulationTest, SaysWhoDiverged) {
  config_.lr = 1e30;
  const std::string failure = failure_of(config_, on_threads(1));
  EXPECT_NE(failure.find("diverged in round 0"), std::string::npos) << failure;
  EXPECT_NE(failure.find("learning rate"), std::string::npos) << failure;
}

TEST_F(SimulationTest, RefusesAMemoryLimitThatCannotHoldOneClient) {
  Execution execution;
  execution.memory = 1 << 20;
  const std::string failure = failure_of(config_, execution);
  EXPECT_NE(failure.find("needs"), std::string::npos) << failure;
  EXPECT_NE(failure.find("1.0 MiB"), std::string::npos) << failure;
}

TEST_F(SimulationTest, RefusesMoreClientsThanSamples) {
  config_.clients = 601;
  const std::string failure = failure_of(config_, {});
  EXPECT_NE(failure.find("600"), std::string::npos) << failure;
  EXPECT_NE(failure.find("601"), std::string::npos) << failure;
}

TEST_F(SimulationTest, RefusesRulesThatDoNotGoTogether) {
  config_.aggregation.rule = Rule::median;
  config_.privacy = {.clip = 1, .noise = 1};
  EXPECT_NE(failure_of(config_, {}).find("median"), std::string::npos);
  config_.privacy = {};
  config_.world.deadline = 1;
  config_.world.staleness = 1;
  EXPECT_NE(failure_of(config_, {}).find("staleness"), std::string::npos);
}

class Checkpoints : public Workbench {
 protected:
  Checkpoints() {
    execution_ = on_threads(1);
    execution_.folder = directory_ / "run";
  }

  const support::TemporaryDirectory directory_;
  Execution execution_;
};

TEST_F(Checkpoints, OfAnotherSimulationAreRefused) {
  run(config_, execution_);
  execution_.resume = true;
  config_.lr = 0.5;
  const std::string failure = failure_of(config_, execution_);
  EXPECT_NE(failure.find("its lr is 0.01"), std::string::npos) << failure;
}

TEST_F(Checkpoints, MayGoOnForMoreRounds) {
  run(config_, execution_);
  Config longer = config_;
  longer.rounds = 5;
  const SimulationResult whole = run(longer, on_threads(1));
  execution_.resume = true;
  const SimulationResult resumed = run(longer, execution_);
  EXPECT_EQ(resumed.resumed_at, 3U);
  EXPECT_EQ(resumed.model_sha256, whole.model_sha256);
}

TEST_F(Checkpoints, ThatAreDamagedAreRefused) {
  run(config_, execution_);
  execution_.resume = true;
  const std::string path = execution_.folder + "/checkpoint";
  std::string bytes = *base::read_file(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  ASSERT_TRUE(base::write_file_atomically(path, bytes));
  EXPECT_NE(failure_of(config_, execution_).find("damaged"), std::string::npos);
}

TEST_F(Checkpoints, WriteALineForEveryRound) {
  run(config_, execution_);
  const std::string lines = *base::read_file(execution_.folder + "/rounds.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  const auto first = base::parse_json(lines.substr(0, lines.find('\n')));
  ASSERT_TRUE(first);
  const auto report = round_report_from(*first);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(to_json(*report).text(), first->text());
}

/// Takes memory once the plan is made, and notes what comes of it.
class Ballast final : public Observer {
 public:
  explicit Ballast(std::size_t size) : size_(size) {}

  void planned(const MemoryPlan&) override { bytes_.assign(size_, 'x'); }
  void round_done(const RoundReport& report) override {
    parallel.push_back(report.memory.parallel_clients);
  }
  void warned(const std::string& line) override { lines.push_back(line); }

  std::vector<std::uint32_t> parallel;
  std::vector<std::string> lines;

 private:
  const std::size_t size_;
  std::string bytes_;
};

class UnderPressure : public Workbench {};

TEST_F(UnderPressure, FewerClientsTrainAtATimeWithTheSameBits) {
  if (!support::is_alone()) return;  // its limit counts from the memory of this process
  config_.rounds = 4;
  const SimulationResult calm = run(config_, on_threads(4));
  // The limit is met while the plan still fits; then something else takes most of the room.
  Execution tight = on_threads(4);
  tight.memory = *sense::read_rss_fast() + (300U << 20);
  Ballast ballast(280U << 20);
  const SimulationResult pressed = run(config_, tight, ballast);
  EXPECT_EQ(pressed.plan.parallel_clients, 4U);
  ASSERT_FALSE(ballast.parallel.empty());
  EXPECT_LT(ballast.parallel.back(), 4U);
  ASSERT_FALSE(ballast.lines.empty());
  EXPECT_NE(ballast.lines.front().find("memory at"), std::string::npos);
  EXPECT_EQ(calm.model_sha256, pressed.model_sha256);
}

}  // namespace
}  // namespace ebb::fl
