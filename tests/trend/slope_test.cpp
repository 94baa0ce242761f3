// SPDX-License-Identifier: Apache-2.0
#include "trend/slope.h"

#include <gtest/gtest.h>

#include "synthetic.h"

namespace ebb::trend {
namespace {

using synthetic::Random;

std::vector<Point> noisy_line(Random& random, std::size_t count, double slope, double noise) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto time = static_cast<double>(i);
    points.push_back({time, 100 + slope * time + noise * random.normal()});
  }
  return points;
}

TEST(TheilSen, IsExactOnALine) {
  Random random(1);
  const auto slope = theil_sen(noisy_line(random, 20, 2.5, 0));
  ASSERT_TRUE(slope);
  EXPECT_DOUBLE_EQ(slope->per_second, 2.5);
  EXPECT_DOUBLE_EQ(slope->low, 2.5);
  EXPECT_DOUBLE_EQ(slope->high, 2.5);
  EXPECT_DOUBLE_EQ(slope->start, 100);
  EXPECT_DOUBLE_EQ(slope->end, 100 + 2.5 * 19);
  EXPECT_DOUBLE_EQ(slope->noise, 0);
}

TEST(TheilSen, NeedsThreePointsAndTime) {
  EXPECT_FALSE(theil_sen(std::vector<Point>{{0, 1}, {1, 2}}));
  EXPECT_FALSE(theil_sen(std::vector<Point>{{5, 1}, {5, 2}, {5, 3}}));
  const auto three = theil_sen(std::vector<Point>{{0, 1}, {1, 2}, {2, 2}});
  ASSERT_TRUE(three);
  EXPECT_FALSE(three->bounded()) << "three points bound nothing";
}

TEST(TheilSen, FollowsShiftsAndScalesOfTimeAndValue) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto points = noisy_line(random, 30, random.normal(), 4);
    std::vector<Point> changed = points;
    for (Point& point : changed)
      point = {point.seconds * 4 + 1000, point.value * -2 + 64};
    const auto before = theil_sen(points);
    const auto after = theil_sen(changed);
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(after->per_second, before->per_second * -2 / 4, 1e-9);
    EXPECT_NEAR(after->low, before->high * -2 / 4, 1e-9);
    EXPECT_NEAR(after->high, before->low * -2 / 4, 1e-9);
    EXPECT_NEAR(after->noise, before->noise * 2, 1e-9);
    EXPECT_LE(before->low, before->per_second);
    EXPECT_LE(before->per_second, before->high);
  }
}

TEST(TheilSen, ForgivesAQuarterOfWildPoints) {
  Random random(3);
  auto points = noisy_line(random, 100, 1, 0.5);
  for (std::size_t i = 0; i < points.size(); i += 4)
    points[i].value += 1e6 * random.uniform();
  EXPECT_NEAR(theil_sen(points)->per_second, 1, 0.1);
}

TEST(TheilSen, ItsIntervalHoldsTheTruthAsOftenAsItSays) {
  int independent = 0;
  int correlated = 0;
  constexpr int kDraws = 300;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    Random random(seed);
    const auto line = theil_sen(noisy_line(random, 40, 0.3, 5));
    independent += line->low <= 0.3 && 0.3 <= line->high ? 1 : 0;
    double state = random.normal();
    std::vector<Point> points;
    for (int i = 0; i < 60; ++i) {
      points.push_back({static_cast<double>(i), 0.3 * i + state});
      state = 0.7 * state + random.normal();
    }
    const auto wandering = theil_sen(points);
    correlated += wandering->low <= 0.3 && 0.3 <= wandering->high ? 1 : 0;
  }
  std::printf("true slope within the interval: independent noise %.1f %%, AR 0.7 %.1f %%\n",
              100.0 * independent / kDraws, 100.0 * correlated / kDraws);
  EXPECT_GE(independent, kDraws * 93 / 100);
  EXPECT_GE(correlated, kDraws * 88 / 100);
}

TEST(TheilSen, TakesTheSamePointsOfALongSeriesEveryTime) {
  Random random(5);
  const auto points = noisy_line(random, 20'000, -0.01, 10);
  const auto first = theil_sen(points);
  const auto second = theil_sen(points);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->points, kExactPoints);
  EXPECT_EQ(first->per_second, second->per_second);
  EXPECT_EQ(first->low, second->low);
  EXPECT_LE(first->low, -0.01);
  EXPECT_GE(first->high, -0.01);
}

TEST(TheilSen, ALongSeriesOfRoundsIsNotMetInOnePhase) {
  std::vector<Point> points;
  for (int i = 0; i < 20'000; ++i)
    points.push_back({static_cast<double>(i), static_cast<double>(i % 20)});
  EXPECT_GT(theil_sen(points)->noise, 3) << "rounds are still visible in what was taken";
}

TEST(TimeUntil, GoesFromTheEndOfTheLine) {
  Slope slope{.per_second = 2, .low = 1, .high = 4, .start = 0, .end = 100, .points = 10};
  const auto until = time_until(slope, 180);
  ASSERT_TRUE(until);
  EXPECT_DOUBLE_EQ(until->likely, 40);
  EXPECT_DOUBLE_EQ(until->soonest, 20);
  EXPECT_DOUBLE_EQ(until->latest.value(), 80);
  slope.low = -1;
  EXPECT_FALSE(time_until(slope, 180)->latest) << "perhaps never";
  EXPECT_FALSE(time_until(slope, 90)) << "it is behind";
  slope.per_second = -0.1;
  EXPECT_FALSE(time_until(slope, 180));
}

}  // namespace
}  // namespace ebb::trend
