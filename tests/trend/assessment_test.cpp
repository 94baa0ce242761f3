// SPDX-License-Identifier: Apache-2.0
#include "trend/assessment.h"

#include <gtest/gtest.h>

#include "synthetic.h"

namespace ebb::trend {
namespace {

using namespace synthetic;

TEST(Assessment, OfFewSamplesSaysNothing) {
  for (const std::size_t count : {0U, 1U, 2U, 39U}) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < count; ++i)
      points.push_back({static_cast<double>(i), kLevel * static_cast<double>(i)});
    const Assessment assessment = assess(points);
    EXPECT_EQ(assessment.samples, count);
    EXPECT_FALSE(assessment.slope);
    EXPECT_FALSE(grows(assessment));
    EXPECT_FALSE(is_steady(assessment));
  }
}

TEST(Assessment, OfAConstantIsSteady) {
  const Assessment assessment = assess(series([](std::size_t) { return kLevel; }));
  EXPECT_TRUE(is_steady(assessment));
  EXPECT_FALSE(grows(assessment));
  EXPECT_EQ(assessment.settled_seconds, kSamples - 1);
  const Assessment zero = assess(series([](std::size_t) { return 0.0; }));
  EXPECT_TRUE(is_steady(zero)) << "nothing that stays nothing";
}

TEST(Assessment, LeavesWarmUpOut) {
  Random random(2);
  const Assessment assessment = assess(warm_up(random, 0.2));
  ASSERT_TRUE(assessment.slope);
  EXPECT_LT(assessment.settled_seconds, kSamples - 1);
  const double truth = 0.2 * kLevel / (kSamples - 1);
  EXPECT_NEAR(assessment.slope->per_second, truth, 0.25 * truth);
  ASSERT_TRUE(assessment.whole);
  EXPECT_GT(assessment.whole->per_second, assessment.slope->per_second);
}

TEST(Assessment, TakesToldRoundsInsteadOfWindows) {
  Random random(4);
  std::vector<double> ends;
  for (double end = 19; end < kSamples; end += 20)
    ends.push_back(end);
  AssessOptions options;
  options.round_ends = ends;
  const Assessment assessment = assess(leaking(random, 0, 0.2), options);
  EXPECT_EQ(assessment.floors, ends.size());
  EXPECT_NEAR(assessment.period.value(), 20, 0.1);
  EXPECT_TRUE(grows(assessment));
}

TEST(Assessment, FewToldRoundsAreNoReasonToSayNothing) {
  Random random(4);
  const std::vector<double> ends{100, 200};
  AssessOptions options;
  options.round_ends = ends;
  const auto points = leaking(random, 0, 0.2);
  EXPECT_EQ(assess(points, options).floors, assess(points).floors);
}

TEST(Assessment, ManyToldRoundsAreTakenSeveralAtATime) {
  std::vector<Point> points;
  std::vector<double> ends;
  for (int i = 0; i < 20'000; ++i) {
    points.push_back({static_cast<double>(i), kLevel * (1 + 1e-5 * i + (i % 2))});
    if (i % 2 == 1) ends.push_back(i);
  }
  AssessOptions options;
  options.round_ends = ends;
  const Assessment assessment = assess(points, options);
  EXPECT_LE(assessment.floors, 64U);
  EXPECT_GE(assessment.floors, 32U);
  ASSERT_TRUE(assessment.slope);
  EXPECT_NEAR(assessment.slope->per_second, 1e-5 * kLevel, 1e-7 * kLevel);
}

TEST(Assessment, TakesEachPointWhereItIsToldThatTheyAreFloors) {
  std::vector<Point> points;
  for (int i = 0; i < 10; ++i)
    points.push_back({100.0 * i, kLevel * (1 + 0.01 * i)});
  EXPECT_FALSE(assess(points).slope) << "ten samples are too few";
  AssessOptions options;
  options.each = true;
  EXPECT_TRUE(grows(assess(points, options)));
  EXPECT_FALSE(assess(std::span(points).first(9), options).slope);
}

TEST(Assessment, TellsFloorsThatRiseFromWorkThatDoes) {
  // Each round gives back less, and reaches no more: what was kept is used again.
  const auto points = series([](std::size_t i) {
    return i % 6 < 3 ? kLevel * 1.5 : kLevel * (1 + 0.3 * share_of_run(i));
  });
  EXPECT_TRUE(grows(assess(points)));
  AssessOptions highest;
  highest.highest = true;
  EXPECT_TRUE(is_steady(assess(points, highest)));
}

TEST(Assessment, SmallButCertainGrowthIsNeitherSteadyNorGrowth) {
  const Assessment assessment =
      assess(series([](std::size_t i) { return kLevel * (1 + 0.01 * share_of_run(i)); }));
  EXPECT_FALSE(grows(assessment));
  EXPECT_FALSE(is_steady(assessment)) << "one percent in four minutes may be a leak";
}

TEST(Assessment, FallingIsSteady) {
  EXPECT_TRUE(
      is_steady(assess(series([](std::size_t i) { return kLevel * (2 - share_of_run(i)); }))));
}

}  // namespace
}  // namespace ebb::trend
