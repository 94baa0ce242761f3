// SPDX-License-Identifier: Apache-2.0
// SCAFFOLD where a card trains, which the host plays: what it does on the host, and the same bits
// whatever comes in between.
#include <string_view>

#include "base/file.h"
#include "fl/checkpoint.h"
#include "fl/torch/full_card.h"
#include "fl/torch/nearness.h"
#include "support/effort.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

class ScaffoldOnACard : public FullCard {
 protected:
  ScaffoldOnACard() {
    config_.aggregation.rule = Rule::scaffold;
    config_.per_round = 6;  // a group of four, and two that fill another
    config_.rounds = 4;
    config_.lr = 0.05;
    config_.epochs = 2;
    config_.partition.alpha = 0.3;
  }

  /// The model and the server's control variate in the checkpoint of what `simulates` in a folder.
  std::vector<std::vector<float>> kept(const std::function<void(const Execution&)>& simulates) {
    const support::TemporaryDirectory directory;
    Execution execution = on_threads(1);
    execution.folder = directory / "run";
    simulates(execution);
    const auto bytes = base::read_file(execution.folder + "/checkpoint", kMostCheckpointBytes);
    EXPECT_TRUE(bytes);
    const auto checkpoint = unpack_checkpoint(*bytes, "checkpoint");
    EXPECT_TRUE(checkpoint);
    std::vector<std::vector<float>> arrays;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& from = checkpoint->arrays[i];
      arrays.emplace_back(from.size() / sizeof(float));
      std::memcpy(arrays.back().data(), from.data(), from.size());
    }
    return arrays;
  }
};

TEST_F(ScaffoldOnACard, IsWhatItIsOnTheHost) {
  for (const char* model : {"cnn-mnist", "cnn-dropout"}) {
    if (!support::is_thorough() && std::string_view(model) != "cnn-mnist") continue;
    SCOPED_TRACE(model);
    config_.model = model;
    const auto host = kept([&](const Execution& execution) { run(config_, execution); });
    const auto card = kept([&](const Execution& execution) {
      Listener listener(*this);
      const auto result = run_with([](FullNowAndThen&) {}, execution, listener);
      ASSERT_TRUE(result) << result.error().message;
    });
    const std::vector<float> zeros(host[1].size());
    EXPECT_LT(apart(zeros, host[0], card[0]), kRounding);
    EXPECT_LT(apart(zeros, host[1], card[1]), 10 * kRounding);
    EXPECT_GT(distance(zeros, host[1]), 0.01) << "something was learned";
  }
}

TEST_F(ScaffoldOnACard, DiffersFromWhatCorrectsNothing) {
  const std::string sha = undisturbed().model_sha256;
  config_.aggregation.rule = Rule::fedavg;
  config_.aggregation.weighting = Weighting::none;
  EXPECT_NE(undisturbed().model_sha256, sha);
}

TEST_F(ScaffoldOnACard, LearnsNoControlVariateTwiceWhereTheCardIsFull) {
  const std::string sha = undisturbed().model_sha256;
  const std::size_t tries = groups_.size();
  EXPECT_EQ(groups_, std::vector<std::size_t>(8, 4));
  for (const bool learning : {false, true}) {
    const auto result = run_with([&](FullNowAndThen& trainer) {
      trainer.failures = 3;
      trainer.fails_later = true;
      trainer.fails_learning = learning;
    });
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->model_sha256, sha) << learning;
    EXPECT_EQ(groups_.size(), tries + 3) << learning;
    EXPECT_FALSE(result->card->rounding_from);
  }
}

TEST_F(ScaffoldOnACard, GoesOnInSmallerGroupsWhereItStaysFull) {
  const SimulationResult whole = undisturbed();
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most = 2; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->card->clients, 2U);
  EXPECT_NEAR(result->rounds.back().scores->loss, whole.rounds.back().scores->loss, 1e-3);
}

TEST_F(ScaffoldOnACard, GoesOnFromACheckpoint) {
  const std::string sha = undisturbed().model_sha256;
  const support::TemporaryDirectory directory;
  Execution execution = on_threads(1);
  execution.folder = directory / "run";
  Listener first(*this, 2);
  ASSERT_TRUE(run_with([](FullNowAndThen&) {}, execution, first));
  execution.resume = true;
  Listener rest(*this);
  const auto resumed = run_with([](FullNowAndThen&) {}, execution, rest);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->model_sha256, sha);
}

}  // namespace
}  // namespace ebb::fl
