// SPDX-License-Identifier: Apache-2.0
#include "trend/changes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synthetic.h"

namespace ebb::trend {
namespace {

using synthetic::Random;

std::vector<Point> points_of(std::size_t count, const std::function<double(double)>& at) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({static_cast<double>(i), at(static_cast<double>(i))});
  return points;
}

TEST(ChangePoints, AreNotFoundOnALine) {
  EXPECT_TRUE(change_points(points_of(40, [](double) { return 7.0; })).empty());
  EXPECT_TRUE(change_points(points_of(40, [](double t) { return 1e9 + 0.1 * t; })).empty());
  EXPECT_TRUE(change_points({}).empty());
}

TEST(ChangePoints, AreNotFoundOnALineThatIsLateForAWhile) {
  std::vector<Point> points;
  for (int i = 0; i < 32; ++i)
    points.push_back(
        {double(i), 1000.0 + 100.0 * i + (i % 7 == 3 ? 30.0 : 0) - (i > 20 ? 60.0 : 0)});
  EXPECT_TRUE(change_points(points).empty());
}

TEST(ChangePoints, AreNotFoundInWhiteNoise) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    EXPECT_TRUE(change_points(points_of(40, [&](double) { return random.normal(); })).empty())
        << seed;
  }
}

TEST(ChangePoints, FindStepsAndBendsWhereTheyAre) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto step = change_points(
        points_of(40, [&](double t) { return (t >= 15 ? 20 : 0) + random.normal(); }));
    EXPECT_EQ(step, std::vector<std::size_t>{15}) << seed;
    const auto bend = change_points(
        points_of(40, [&](double t) { return 5 * std::min(t, 20.0) + random.normal(); }));
    ASSERT_EQ(bend.size(), 1U) << seed;
    EXPECT_NEAR(static_cast<double>(bend[0]), 20, 2) << seed;
  }
}

TEST(ChangePoints, FindTwoStepsInOrder) {
  Random random(1);
  const auto found = change_points(points_of(
      60, [&](double t) { return (t >= 20 ? 90 : 0) + (t >= 45 ? 30 : 0) + random.normal(); }));
  EXPECT_EQ(found, (std::vector<std::size_t>{20, 45}));
}

TEST(Period, IsFoundInRoundsAlsoWhileTheyGrow) {
  for (const double length : {6.0, 11.0, 25.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const auto found = period_of(points_of(
          200, [&](double t) { return t + 40 * std::fmod(t / length, 1.0) + random.normal(); }));
      ASSERT_TRUE(found) << length << " seed " << seed;
      EXPECT_NEAR(*found, length, 0.1 * length + 1) << seed;
    }
  }
}

TEST(Period, IsNotFoundWhereThereIsNone) {
  EXPECT_FALSE(period_of(points_of(200, [](double t) { return t; })));
  EXPECT_FALSE(period_of(points_of(200, [](double) { return 3.0; })));
  int found = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    found += period_of(points_of(200, [&](double) { return random.normal(); })) ? 1 : 0;
  }
  EXPECT_EQ(found, 0);
  EXPECT_FALSE(period_of(points_of(8, [](double t) { return std::fmod(t, 2); }))) << "too short";
}

}  // namespace
}  // namespace ebb::trend
