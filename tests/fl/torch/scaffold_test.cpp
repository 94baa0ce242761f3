// SPDX-License-Identifier: Apache-2.0
// SCAFFOLD beside plain loops in double that say the same (Karimireddy et al. 2020, option I).
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/file.h"
#include "fl/checkpoint.h"
#include "fl/data/partition.h"
#include "fl/torch/workbench.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

using Numbers = std::vector<double>;

/// Softmax regression: a row of weights for each class, then a bias for each.
struct Regression {
  const DataSet& data;
  std::size_t inputs = data.picture.height * data.picture.width;

  double input(std::uint32_t sample, std::size_t i) const {
    return (data.train.pixels[sample * inputs + i] / 255.0 -
            static_cast<double>(data.normalisation.mean[0])) /
           static_cast<double>(data.normalisation.deviation[0]);
  }

  /// Of the mean loss over `samples`.
  Numbers gradient(const Numbers& weights, std::span<const std::uint32_t> samples) const {
    Numbers total(weights.size());
    const std::size_t biases = data.classes * inputs;
    for (const std::uint32_t sample : samples) {
      Numbers scores(data.classes);
      for (std::size_t c = 0; c < data.classes; ++c) {
        scores[c] = weights[biases + c];
        for (std::size_t i = 0; i < inputs; ++i)
          scores[c] += weights[c * inputs + i] * input(sample, i);
      }
      double sum = 0;
      for (const double score : scores)
        sum += std::exp(score);
      for (std::size_t c = 0; c < data.classes; ++c) {
        const double is_it = c == data.train.labels[sample] ? 1 : 0;
        const double slope =
            (std::exp(scores[c]) / sum - is_it) / static_cast<double>(samples.size());
        for (std::size_t i = 0; i < inputs; ++i)
          total[c * inputs + i] += slope * input(sample, i);
        total[biases + c] += slope;
      }
    }
    return total;
  }
};

class Scaffold : public Workbench {
 protected:
  Scaffold() {
    config_.model = "my.json";
    config_.network = R"({"layers": [{"type": "linear", "out_features": "classes"}]})";
    config_.synthetic.picture = {1, 8, 8};
    config_.synthetic.train = 90;
    config_.clients = 6;
    config_.per_round = 3;
    config_.rounds = 4;
    // A step looks at all samples of a client: it does not matter in which order.
    config_.batch = 128;
    config_.epochs = 3;
    config_.lr = 0.02;
    config_.aggregation.rule = Rule::scaffold;
    config_.aggregation.server_lr = 0.75;
  }

  static Numbers floats_of(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return {values.begin(), values.end()};
  }

  static double furthest(const Numbers& one, const Numbers& other) {
    double most = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
      most = std::max(most, std::fabs(one[i] - other[i]));
    return most;
  }
};

TEST_F(Scaffold, IsWhatPlainLoopsComputeOfIt) {
  const support::TemporaryDirectory directory;
  Execution execution = on_threads(2);
  execution.folder = directory / "run";
  const SimulationResult result = run(config_, execution);
  const auto bytes = base::read_file(execution.folder + "/checkpoint", kMostCheckpointBytes);
  ASSERT_TRUE(bytes);
  const auto checkpoint = unpack_checkpoint(*bytes, "checkpoint");
  ASSERT_TRUE(checkpoint);
  ASSERT_EQ(checkpoint->arrays.size(), 3U) << "weights, the server's control variate, marks";

  auto resources = load_resources(config_, execution, cleaner_, alone());
  ASSERT_TRUE(resources);
  const Regression regression{*resources->data};
  const auto partition = partition_samples(resources->data->train.labels, resources->data->classes,
                                           config_.clients, config_.partition, config_.seed);
  ASSERT_TRUE(partition);
  std::vector<float> begin(resources->trainer->parameters());
  resources->trainer->initialise(config_.seed, begin);
  const std::size_t count = begin.size();
  Numbers model(begin.begin(), begin.end());
  Numbers server(count);
  std::vector<Numbers> own(config_.clients, Numbers(count));
  for (const RoundReport& round : result.rounds) {
    Numbers moved(count);
    Numbers learned(count);
    for (const std::uint32_t client : round.cohort) {
      Numbers local = model;
      for (std::uint32_t step = 0; step < config_.epochs; ++step) {
        const Numbers slope = regression.gradient(local, partition->of(client));
        for (std::size_t i = 0; i < count; ++i)
          local[i] -= config_.lr * (slope[i] - own[client][i] + server[i]);
      }
      const Numbers now = regression.gradient(model, partition->of(client));
      for (std::size_t i = 0; i < count; ++i) {
        moved[i] += (local[i] - model[i]) / config_.per_round;
        learned[i] += (now[i] - own[client][i]) / config_.clients;
      }
      own[client] = now;
    }
    for (std::size_t i = 0; i < count; ++i) {
      model[i] += config_.aggregation.server_lr * moved[i];
      server[i] += learned[i];
    }
  }
  EXPECT_LT(furthest(floats_of(checkpoint->arrays[0]), model), 1e-5);
  EXPECT_LT(furthest(floats_of(checkpoint->arrays[1]), server), 1e-5);
  EXPECT_GT(furthest(Numbers(begin.begin(), begin.end()), model), 1e-2);

  config_.aggregation.rule = Rule::fedavg;
  config_.aggregation.weighting = Weighting::none;
  EXPECT_NE(run(config_, on_threads(2)).model_sha256, result.model_sha256);
}

TEST_F(Scaffold, SendsAndComputesMoreAndPlansForIt) {
  config_.partition.kind = PartitionKind::iid;
  const support::TemporaryDirectory directory;
  Execution execution = on_threads(1);
  execution.folder = directory / "run";
  const SimulationResult scaffold = run(config_, execution);
  config_.aggregation.rule = Rule::fedavg;
  const SimulationResult plain = run(config_, on_threads(1));
  EXPECT_EQ(scaffold.rounds.front().communicated_bytes,
            2 * plain.rounds.front().communicated_bytes);
  EXPECT_NEAR(scaffold.rounds.front().flops / plain.rounds.front().flops, 4.0 / 3, 1e-9);
  const auto planned = [&](const char* purpose) {
    for (const MemoryItem& item : scaffold.plan.items)
      if (item.purpose == purpose) return item.bytes;
    return std::uint64_t{0};
  };
  constexpr std::uint64_t kParameters = 64 * 10 + 10;
  EXPECT_EQ(planned("control variates of clients"), 2 * 6 * kParameters * sizeof(float));
  EXPECT_EQ(planned("correction of a client"), kParameters * sizeof(float));
  EXPECT_GE(planned("control variate of the server"), kParameters * 12);
}

TEST_F(Scaffold, IsRefusedWhereItHasNoMeaning) {
  const auto why = [&](const std::function<void(Config&)>& change) {
    Config config = config_;
    change(config);
    const auto right = check(config);
    return right ? "none" : right.error().message;
  };
  EXPECT_EQ(why([](Config&) {}), "none");
  EXPECT_EQ(
      why([](Config& config) { config.workflow = Workflow::swarm; }),
      "aggregation scaffold with workflow swarm, expected server: it has a control variate of "
      "its own");
  EXPECT_EQ(why([](Config& config) {
              config.world.deadline = 1;
              config.world.staleness = 1;
            }),
            "aggregation scaffold with staleness, expected none: control variates are of the round "
            "that they came from");
  EXPECT_EQ(why([](Config& config) { config.privacy = {.clip = 1, .noise = 1}; }),
            "aggregation scaffold with dp_clip, expected none: control variates are sent beside "
            "updates");
}

}  // namespace
}  // namespace ebb::fl
