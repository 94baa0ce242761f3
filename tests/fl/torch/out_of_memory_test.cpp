// SPDX-License-Identifier: Apache-2.0
// A card that is full for a while, or for good: here the host plays it, with the real arithmetic.
#include "fl/card_patience.h"
#include "fl/torch/failures.h"
#include "fl/torch/full_card.h"

namespace ebb::fl {
namespace {

using OutOfMemory = FullCard;

TEST_F(OutOfMemory, ForAWhileChangesNoBit) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.failures = 3; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha);
  EXPECT_FALSE(result->card->rounding_from);
  EXPECT_EQ(groups_, (std::vector<std::size_t>{4, 4, 4, 4, 4, 4})) << "the same group each time";
  EXPECT_GT(waited_, 0);
  EXPECT_NE(lines_.find("round 1: GPU 0 had no room"), std::string::npos) << lines_;
}

TEST_F(OutOfMemory, WhereUpdatesAreAddedUpAddsNoneOfThem) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) {
    trainer.failures = 2;
    trainer.fails_later = true;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha);
  EXPECT_EQ(fetched_, 0U) << "sums alone come to the host";
}

TEST_F(OutOfMemory, OrNotUpdatesThatAreComparedStayWhereTheyAre) {
  config_.method = "ml.divfl";
  const std::string sha = undisturbed().model_sha256;
  EXPECT_EQ(fetched_, 0U);
  EXPECT_EQ(undisturbed().model_sha256, sha);
}

TEST_F(OutOfMemory, HalfWayAddsNoClientTwice) {
  const auto change = [&](std::size_t fetches, auto&& how) {
    const auto halfway = [&](FullNowAndThen& trainer) {
      trainer.failures = 2;
      trainer.fails_later = true;
      trainer.fetches = fetches;
    };
    config_ = Config(original_);
    how();
    const std::string sha = undisturbed().model_sha256;
    const std::size_t tries = groups_.size();
    const auto result = run_with(halfway);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->model_sha256, sha);
    EXPECT_GT(fetched_, 0U) << "a rule that needs all updates";
    EXPECT_GT(groups_.size(), tries) << "an attempt failed";
  };
  change(2, [&] { config_.aggregation.rule = Rule::median; });
  change(0, [&] {
    config_.world.deadline = 0.02;
    config_.world.staleness = 2;
    config_.rounds = 4;
  });
}

TEST_F(OutOfMemory, ForGoodHasSmallerGroupsAndSaysSo) {
  const SimulationResult whole = undisturbed();
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most = 1; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->card->rounding_from, 1U);
  EXPECT_EQ(groups_.back(), 1U);
  EXPECT_GE(waited_, CardPatience::kSeconds);
  EXPECT_LT(waited_, 2 * CardPatience::kSeconds) << "halves are tried at once";
  EXPECT_NE(lines_.find("to rounding only"), std::string::npos) << lines_;
  EXPECT_EQ(result->rounds.size(), whole.rounds.size());
  EXPECT_NEAR(result->rounds.back().scores->loss, whole.rounds.back().scores->loss, 1e-3);
  EXPECT_EQ(to_json(*result).find("rounding_from_round")->as_unsigned(), 1U);
}

TEST_F(OutOfMemory, InEvaluationTakesFewerAtATimeAndSaysSo) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most_evaluated = 100; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha) << "nobody is chosen by what was evaluated here";
  EXPECT_EQ(result->card->rounding_from, 0U) << "the model that all begin with";
  EXPECT_GE(waited_, CardPatience::kSeconds);
  EXPECT_LT(waited_, 2 * CardPatience::kSeconds) << "halves are tried at once";
  EXPECT_NE(lines_.find("64 samples at a time from now on"), std::string::npos) << lines_;
}

TEST_F(OutOfMemory, OrNotWhatTheCardComputesWithIsSaid) {
  warning_ = "no compiler";
  const SimulationResult result = undisturbed();
  EXPECT_EQ(lines_, "no compiler\n");
  EXPECT_EQ(*to_json(result).find("card")->find("kernels")->as_string(), "libtorch");
}

TEST_F(OutOfMemory, WithoutRoomToEvaluateIsAnError) {
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most_evaluated = 0; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::out_of_memory);
}

TEST_F(OutOfMemory, WithoutRoomForOneClientIsAnError) {
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most = 0; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::out_of_memory);
}

TEST_F(OutOfMemory, GroupsAreFilledUpSoThatWhoIsMissingChangesNoSize) {
  config_.world.dropout = 0.4;
  config_.per_round = 6;
  const auto result = run_with([](FullNowAndThen&) {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(groups_, std::vector<std::size_t>(groups_.size(), 4));
  std::size_t trained = 0;
  for (const RoundReport& report : result->rounds)
    trained += report.took_part.size();
  EXPECT_NE(trained % 4, 0U) << "some groups are not full";
}

TEST(Failures, TellWantOfMemoryFromTheRest) {
  EXPECT_EQ(error_of(std::bad_alloc()).code, base::Code::out_of_memory);
  for (const char* text :
       {"CUDA error: out of memory\nmore", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"})
    EXPECT_EQ(error_of(std::runtime_error(text)).code, base::Code::out_of_memory) << text;
  const base::Error other = error_of(std::runtime_error("shapes differ\n  at layer 3"));
  EXPECT_EQ(other.code, base::Code::internal);
  EXPECT_EQ(other.message, "shapes differ");
  const base::Error wordy = error_of(std::runtime_error(
      "CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacity of 139.80 GiB "
      "of which "
      "5.56 MiB is free. Including non-PyTorch memory, this process has 1.01 GiB memory in use."));
  EXPECT_EQ(
      wordy.message,
      "CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacity of 139.80 GiB "
      "of which 5.56 MiB is free.");
}

}  // namespace
}  // namespace ebb::fl
