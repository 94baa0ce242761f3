// SPDX-License-Identifier: Apache-2.0
#include "fl/comparison.h"

#include <gtest/gtest.h>

namespace ebb::fl {
namespace {

/// A simulation whose accuracy goes through these values, a round every ten simulated seconds.
SimulationResult result_with(std::vector<double> accuracies) {
  SimulationResult result;
  result.config.clients = 4;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    RoundReport round;
    round.round = static_cast<std::uint32_t>(i);
    round.scores = Scores{accuracies[i], 1 - accuracies[i], {}};
    round.took_part = {0, static_cast<std::uint32_t>(i % 4)};
    round.simulated_seconds = 10.0 * static_cast<double>(i + 1);
    round.memory.now.rss = 100 + i;
    result.rounds.push_back(round);
  }
  return result;
}

TEST(Comparison, TheLastEvaluationCounts) {
  SimulationResult result = result_with({0.2, 0.6});
  result.rounds.emplace_back();
  EXPECT_DOUBLE_EQ(final_scores(result)->accuracy, 0.6);
  EXPECT_FALSE(final_scores(SimulationResult{}));
  SimulationResult untrained;
  untrained.untrained = Scores{0.1, 2.3, {}};
  EXPECT_DOUBLE_EQ(final_scores(untrained)->accuracy, 0.1);
}

TEST(Comparison, MilestonesAreSimulatedTimes) {
  const Milestones milestones = milestones_of(result_with({0.2, 0.4, 0.8, 0.8}));
  EXPECT_DOUBLE_EQ(milestones.half.value(), 20);
  EXPECT_NEAR(milestones.four_fifths.value(), 26, 1e-9);
  EXPECT_NEAR(milestones.nine_tenths.value(), 28, 1e-9);
  EXPECT_FALSE(milestones_of(SimulationResult{}).half);
}

TEST(Comparison, BandsAreOverTheRepeatsThatCameToARound) {
  const std::vector<SimulationResult> repeats = {result_with({0.2, 0.6}), result_with({0.4})};
  const std::vector<RoundBand> bands = bands_of(repeats);
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_NEAR(bands[0].accuracy->mean, 0.3, 1e-12);
  EXPECT_LT(bands[0].accuracy->low, 0.2);
  EXPECT_GT(bands[0].accuracy->high, 0.4);
  EXPECT_DOUBLE_EQ(bands[1].accuracy->mean, 0.6);
  EXPECT_DOUBLE_EQ(bands[1].rss->mean, 101);
}

TEST(Comparison, ARoundWithoutEvaluationHasNoBandOfAccuracy) {
  SimulationResult result = result_with({0.2, 0.6});
  result.rounds[0].scores.reset();
  const std::vector<SimulationResult> repeats = {result};
  const std::vector<RoundBand> bands = bands_of(repeats);
  EXPECT_FALSE(bands[0].accuracy);
  EXPECT_TRUE(bands[1].accuracy);
}

TEST(Comparison, CountsWhoTookPart) {
  const std::vector<std::uint32_t> expected = {4, 1, 1, 0};
  EXPECT_EQ(participations_of(result_with({0.1, 0.1, 0.1})), expected);
}

TEST(Comparison, RanksByMeanAndTestsEachAgainstTheBest) {
  const std::vector<MethodRuns> methods = {
      {"worse", {result_with({0.50}), result_with({0.52}), result_with({0.51})}},
      {"best", {result_with({0.70}), result_with({0.71}), result_with({0.72})}},
      {"near", {result_with({0.72}), result_with({0.69}), result_with({0.71})}}};
  const std::vector<Ranked> ranking = ranking_of(methods);
  ASSERT_EQ(ranking.size(), 3U);
  EXPECT_EQ(ranking[0].index, 1U);
  EXPECT_FALSE(ranking[0].against_best);
  EXPECT_EQ(ranking[1].index, 2U);
  EXPECT_GT(ranking[1].against_best->p, 0.3);
  EXPECT_EQ(ranking[2].index, 0U);
  EXPECT_NEAR(ranking[2].against_best->difference, -0.2, 1e-9);
  EXPECT_LT(ranking[2].against_best->p, 0.01);
}

TEST(Comparison, OneRepeatIsRankedWithoutATest) {
  const std::vector<MethodRuns> methods = {{"a", {result_with({0.5})}},
                                           {"b", {result_with({0.6})}}};
  const std::vector<Ranked> ranking = ranking_of(methods);
  EXPECT_EQ(ranking[0].index, 1U);
  EXPECT_FALSE(ranking[1].against_best);
}

TEST(Comparison, JsonHasTheFirstRepeatAndTheOthersBesideIt) {
  const std::vector<MethodRuns> methods = {{"a", {result_with({0.5}), result_with({0.7})}}};
  const base::Json json = to_json(methods.front());
  EXPECT_EQ(*json.find("method")->as_string(), "a");
  EXPECT_EQ(json.find("repeats")->as_array()->size(), 1U);
  EXPECT_NEAR(
      json.find("bands")->as_array()->at(0).find("accuracy")->find("mean")->as_double().value(),
      0.6, 1e-12);
  const std::vector<Ranked> ranking = ranking_of(methods);
  const base::Json ranked = to_json(ranking, methods);
  EXPECT_EQ(ranked.as_array()->at(0).find("rank")->as_int(), 1);
  EXPECT_TRUE(ranked.as_array()->at(0).find("against_best")->is_null());
}

}  // namespace
}  // namespace ebb::fl
