// SPDX-License-Identifier: Apache-2.0
// However a simulation is executed, it comes to the same bits.
#include "fl/torch/workbench.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

struct Variant {
  std::string name;
  std::function<void(Config&)> change;
};

class SameBits : public Workbench, public testing::WithParamInterface<Variant> {
 protected:
  SameBits() { GetParam().change(config_); }

  static void expect_same(const SimulationResult& one, const SimulationResult& other) {
    EXPECT_EQ(one.model_sha256, other.model_sha256);
    EXPECT_EQ(one.clip, other.clip);
    ASSERT_EQ(one.rounds.size(), other.rounds.size());
    for (std::size_t i = 0; i < one.rounds.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(one.rounds[i].cohort, other.rounds[i].cohort);
      EXPECT_EQ(one.rounds[i].took_part, other.rounds[i].took_part);
      EXPECT_EQ(one.rounds[i].train_loss, other.rounds[i].train_loss);
      ASSERT_EQ(one.rounds[i].scores.has_value(), other.rounds[i].scores.has_value());
      if (one.rounds[i].scores) {
        EXPECT_EQ(one.rounds[i].scores->loss, other.rounds[i].scores->loss);
        EXPECT_EQ(one.rounds[i].scores->accuracy, other.rounds[i].scores->accuracy);
      }
      ASSERT_EQ(one.rounds[i].client_scores.has_value(), other.rounds[i].client_scores.has_value());
      if (one.rounds[i].client_scores) {
        EXPECT_EQ(to_json(*one.rounds[i].client_scores).text(),
                  to_json(*other.rounds[i].client_scores).text());
      }
      EXPECT_EQ(one.rounds[i].epsilon, other.rounds[i].epsilon);
      ASSERT_EQ(one.rounds[i].privacy.has_value(), other.rounds[i].privacy.has_value());
      if (one.rounds[i].privacy) {
        EXPECT_EQ(one.rounds[i].privacy->clip, other.rounds[i].privacy->clip);
        EXPECT_EQ(one.rounds[i].privacy->share, other.rounds[i].privacy->share);
      }
      EXPECT_EQ(one.rounds[i].simulated_seconds, other.rounds[i].simulated_seconds);
      EXPECT_EQ(one.rounds[i].communicated_bytes, other.rounds[i].communicated_bytes);
    }
  }
};

TEST_P(SameBits, OnOneThreadAsOnThree) {
  const SimulationResult one = run(config_, on_threads(1));
  const SimulationResult three = run(config_, on_threads(3));
  EXPECT_EQ(one.plan.parallel_clients, 1U);
  EXPECT_EQ(three.plan.parallel_clients, 3U);
  ASSERT_EQ(one.rounds.size(), config_.rounds);
  expect_same(one, three);
}

TEST_P(SameBits, ResumedAsInOneGo) {
  const SimulationResult whole = run(config_, on_threads(2));
  const support::TemporaryDirectory directory;
  Execution execution = on_threads(2);
  execution.folder = directory / "run";
  StopsAfter two(2);
  const SimulationResult begun = run(config_, execution, two);
  EXPECT_TRUE(begun.stopped);
  EXPECT_EQ(begun.rounds.size(), 2U);
  execution.resume = true;
  execution.parallel_clients = 1;
  const SimulationResult resumed = run(config_, execution);
  EXPECT_EQ(resumed.resumed_at, 2U);
  expect_same(whole, resumed);
}

INSTANTIATE_TEST_SUITE_P(
    Of, SameBits,
    testing::Values(
        Variant{"FedAvg", [](Config& config) { config.eval_clients_every = 1; }},
        Variant{"SeveralEpochsAndDropout",
                [](Config& config) {
                  config.epochs = 2;
                  config.world.dropout = 0.3;
                }},
        Variant{"LocalStepsUnweightedWithASchedule",
                [](Config& config) {
                  config.local_steps = 5;
                  config.aggregation.weighting = Weighting::none;
                  config.schedule.kind = ScheduleKind::cosine;
                  config.schedule.warmup = 1;
                }},
        Variant{"Dropout",
                [](Config& config) {
                  config.model = "cnn-dropout";
                  config.synthetic.train = 240;
                  config.epochs = 2;
                }},
        Variant{"AModelOfOnesOwn",
                [](Config& config) {
                  config.model = "my.json";
                  config.network = R"({"layers": [
                    {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 2},
                    {"type": "relu"},
                    {"type": "residual", "body": [
                      {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "padding": 1},
                      {"type": "relu"}, {"type": "dropout", "p": 0.2}]},
                    {"type": "residual", "body": [{"type": "relu"}]},
                    {"type": "global_avg_pool"},
                    {"type": "linear", "out_features": 24}, {"type": "relu"},
                    {"type": "dropout", "p": 0.1},
                    {"type": "linear", "out_features": "classes"}]})";
                }},
        Variant{"SharedSamples",
                [](Config& config) {
                  config.partition.kind = PartitionKind::mix;
                  config.partition.samples_per_client = 40;
                  config.partition.sizes = SizeSkew::lognormal;
                  config.clients = 20000;
                  config.world.dropout = 0.3;
                }},
        Variant{"Candidates",
                [](Config& config) {
                  config.partition.kind = PartitionKind::mix;
                  config.partition.samples_per_client = 20;
                  config.clients = 300;
                  config.candidates = 12;
                  config.method = "ml.fedcor";
                  config.method_parameters = {{"warm_up", 2}, {"interval", 2}};
                  config.rounds = 6;
                }},
        Variant{"FedProx", [](Config& config) { config.aggregation.rule = Rule::fedprox; }},
        Variant{"Scaffold",
                [](Config& config) {
                  config.aggregation.rule = Rule::scaffold;
                  config.world.dropout = 0.2;
                  config.rounds = 5;
                  config.per_round = 8;
                }},
        Variant{"FedAvgM", [](Config& config) { config.aggregation.rule = Rule::fedavgm; }},
        Variant{"FedYogi",
                [](Config& config) {
                  config.aggregation.rule = Rule::fedyogi;
                  config.aggregation.server_lr = 0.01;
                }},
        Variant{"Median", [](Config& config) { config.aggregation.rule = Rule::median; }},
        Variant{"TrimmedMean",
                [](Config& config) { config.aggregation.rule = Rule::trimmed_mean; }},
        Variant{"Cyclic", [](Config& config) { config.workflow = Workflow::cyclic; }},
        Variant{"Swarm", [](Config& config) { config.workflow = Workflow::swarm; }},
        Variant{"LateUpdates",
                [](Config& config) {
                  config.world.deadline = 0.06;
                  config.world.staleness = 2;
                  config.rounds = 4;
                }},
        Variant{"Privacy",
                [](Config& config) {
                  config.privacy.clip = 0.5;
                  config.privacy.noise = 1;
                }},
        Variant{"PrivacyWithANormThatFollows",
                [](Config& config) {
                  config.privacy.clip = 0.05;
                  config.privacy.noise = 0.5;
                  config.privacy.target_quantile = 0.5;
                  config.privacy.clip_lr = 1;
                  config.rounds = 5;
                }},
        Variant{"PrivacyWithPoissonSampling",
                [](Config& config) {
                  config.privacy.clip = 0.5;
                  config.privacy.noise = 1;
                  config.privacy.sampling = Sampling::poisson;
                  config.rounds = 5;
                }},
        Variant{"PowerOfChoice", [](Config& config) { config.method = "system_aware.poc"; }},
        Variant{"Oort", [](Config& config) { config.method = "system_aware.oort"; }},
        Variant{"NeuralLinearUcb",
                [](Config& config) {
                  config.method = "ml.neural_linear_ucb";
                  config.rounds = 5;
                }},
        Variant{"Divfl", [](Config& config) { config.method = "ml.divfl"; }}),
    [](const auto& variant) { return variant.param.name; });

class Seeds : public Workbench {};

TEST_F(Seeds, DecideEverything) {
  const SimulationResult one = run(config_, on_threads(2));
  EXPECT_EQ(one.model_sha256, run(config_, on_threads(2)).model_sha256);
  config_.seed = 43;
  const SimulationResult other = run(config_, on_threads(2));
  EXPECT_NE(one.model_sha256, other.model_sha256);
}

TEST_F(Seeds, GiveEveryMethodTheSameWorld) {
  config_.world.dropout = 0.5;
  config_.rounds = 6;
  const SimulationResult random = run(config_, on_threads(2));
  config_.method = "heuristic.round_robin";
  const SimulationResult in_turn = run(config_, on_threads(2));
  // Whoever is chosen by both in a round answers to both or to none.
  int met = 0;
  const auto has = [](const std::vector<std::uint32_t>& list, std::uint32_t client) {
    return std::find(list.begin(), list.end(), client) != list.end();
  };
  for (std::size_t i = 0; i < random.rounds.size(); ++i) {
    for (const std::uint32_t client : random.rounds[i].cohort) {
      if (!has(in_turn.rounds[i].cohort, client)) continue;
      ++met;
      EXPECT_EQ(has(random.rounds[i].took_part, client), has(in_turn.rounds[i].took_part, client));
    }
  }
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace ebb::fl
