// SPDX-License-Identifier: Apache-2.0
#include "trend/series.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic.h"

namespace ebb::trend {
namespace {

std::vector<double> values_of(std::span<const Point> points) {
  std::vector<double> values;
  for (const Point& point : points)
    values.push_back(point.value);
  return values;
}

TEST(Median, IsTheMiddleOrBetweenTheMiddleTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
}

TEST(BoundedSeries, KeepsEverythingUntilItIsFull) {
  BoundedSeries series(4);
  for (const double value : {5.0, 2.0, 7.0, 1.0})
    series.add({value, value});
  EXPECT_EQ(values_of(series.points()), (std::vector<double>{5, 2, 7, 1}));
  series.add({9, 9});
  EXPECT_EQ(values_of(series.points()), (std::vector<double>{2, 1, 9}));
  EXPECT_EQ(series.added(), 5U);
}

TEST(BoundedSeries, HoldsTheLowestOfEachGroupHoweverLongItIsFed) {
  synthetic::Random random(7);
  for (const std::size_t capacity : {2U, 3U, 5U, 8U, 64U}) {
    BoundedSeries series(capacity);
    std::vector<Point> all;
    for (std::size_t i = 0; i < 3000; ++i) {
      all.push_back({static_cast<double>(i), random.uniform()});
      series.add(all.back());
      ASSERT_LE(series.points().size(), capacity);
    }
    // Groups are of one size, a power of two: the least one that lets all of them fit.
    std::size_t group = 1;
    while ((all.size() + group - 1) / group > capacity)
      group *= 2;
    std::vector<Point> expected;
    for (std::size_t i = 0; i < all.size(); i += group) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(i + group, all.size()));
      expected.push_back(
          *std::min_element(all.begin() + static_cast<std::ptrdiff_t>(i), end,
                            [](const Point& a, const Point& b) { return a.value < b.value; }));
    }
    EXPECT_EQ(std::vector<Point>(series.points().begin(), series.points().end()), expected)
        << capacity;
  }
}

TEST(Floors, AreTheLowestOfEachPartAndCeilingsTheHighest) {
  const std::vector<Point> points{{0, 5}, {1, 3}, {2, 4}, {10, 9}, {11, 8}, {12, 7}};
  EXPECT_EQ(floors(points, 2), (std::vector<Point>{{1, 3}, {12, 7}}));
  EXPECT_EQ(ceilings(points, 2), (std::vector<Point>{{0, 5}, {10, 9}}));
  EXPECT_EQ(floors(points, 3).size(), 2U) << "a part without a point gives none";
  EXPECT_TRUE(floors({}, 4).empty());
  EXPECT_TRUE(floors(points, 0).empty());
}

TEST(Floors, OfRoundsIgnoreARoundThatIsNotOver) {
  const std::vector<Point> points{{0, 5}, {1, 3}, {2, 4}, {3, 9}, {4, 8}, {5, 1}};
  const std::vector<double> ends{1.5, 1.7, 4};
  EXPECT_EQ(floors_of_rounds(points, ends), (std::vector<Point>{{1, 3}, {2, 4}}));
  EXPECT_TRUE(floors_of_rounds(points, {}).empty());
}

}  // namespace
}  // namespace ebb::trend
