// SPDX-License-Identifier: Apache-2.0
#include "page/thin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb::page {
namespace {

Line saw_tooth(std::size_t count) {
  Line line{"saw", {}, {}, true};
  for (std::size_t i = 0; i < count; ++i) {
    line.x.push_back(static_cast<double>(i));
    line.y.push_back(static_cast<double>(i * 37 % 1000));
  }
  return line;
}

TEST(Thinned, LeavesShortLinesAsTheyAre) {
  const Line line = saw_tooth(100);
  const Line same = thinned(line, 100);
  EXPECT_EQ(same.x, line.x);
  EXPECT_EQ(same.y, line.y);
}

TEST(Thinned, KeepsEndsAndEveryPeak) {
  Line line = saw_tooth(100'000);
  line.y[61'234] = 5'000;
  line.y[71'234] = -5'000;
  const Line thin = thinned(line, 1'000);
  EXPECT_EQ(thin.name, "saw");
  EXPECT_LE(thin.x.size(), 1'000U);
  EXPECT_GE(thin.x.size(), 500U);
  EXPECT_EQ(thin.x.size(), thin.y.size());
  EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
  EXPECT_EQ(thin.x.front(), 0);
  EXPECT_EQ(thin.x.back(), 99'999);
  const auto high = std::max_element(thin.y.begin(), thin.y.end());
  EXPECT_EQ(*high, 5'000);
  EXPECT_EQ(thin.x[static_cast<std::size_t>(high - thin.y.begin())], 61'234) << "where it was";
  EXPECT_EQ(*std::min_element(thin.y.begin(), thin.y.end()), -5'000);
}

TEST(Thinned, SurvivesLinesThatBreakTheirContract) {
  Line uneven = saw_tooth(1'000);
  uneven.y.resize(700);
  EXPECT_LE(thinned(uneven, 100).x.size(), 100U);
  Line gaps = saw_tooth(1'000);
  for (std::size_t i = 0; i < 999; ++i)
    gaps.y[i] = std::numeric_limits<double>::quiet_NaN();
  const Line thin = thinned(gaps, 100);
  EXPECT_EQ(thin.y.back(), gaps.y.back());
  Line endless = saw_tooth(1'000);
  endless.x.back() = std::numeric_limits<double>::infinity();
  EXPECT_LE(thinned(endless, 100).x.size(), 100U);
  EXPECT_EQ(thinned(Line{}, 0).x.size(), 0U);
}

TEST(Thinned, PartsOfAStackStillAddUpAndKeepThePeaksOfTheirSum) {
  Plot plot;
  plot.stacked = true;
  plot.lines = {saw_tooth(100'000), saw_tooth(100'000)};
  Line& rest = plot.lines[1];
  for (std::size_t i = 0; i < rest.y.size(); ++i)
    rest.y[i] = 2'000 - rest.y[i];  // each part moves, their sum does not
  rest.y[61'234] += 5'000;
  plot.lines[0].y[80'000] = std::numeric_limits<double>::quiet_NaN();
  const Plot whole = plot;
  thin(plot, 1'000);
  ASSERT_LE(plot.lines[0].x.size(), 1'000U);
  EXPECT_EQ(plot.lines[0].x, plot.lines[1].x);
  double highest = 0;
  for (std::size_t i = 0; i < plot.lines[0].x.size(); ++i) {
    const auto at = static_cast<std::size_t>(plot.lines[0].x[i]);
    EXPECT_EQ(plot.lines[1].y[i], whole.lines[1].y[at]);
    highest = std::max(highest, plot.lines[0].y[i] + plot.lines[1].y[i]);
  }
  EXPECT_EQ(highest, 7'000);
}

TEST(Thinned, PartsOfAStackWithDifferentMomentsStayAsTheyAre) {
  Plot plot;
  plot.stacked = true;
  plot.lines = {saw_tooth(5'000), saw_tooth(6'000)};
  thin(plot, 100);
  EXPECT_EQ(plot.lines[0].x.size(), 5'000U);
  plot.stacked = false;
  thin(plot, 100);
  EXPECT_LE(plot.lines[0].x.size(), 100U);
}

HeatMap rising(std::size_t columns) {
  HeatMap map;
  map.rows = {{"rising", {}}, {"gaps", {}}, {"short", {4}}};
  for (std::size_t i = 0; i < columns; ++i) {
    map.rows[0].values.push_back(static_cast<double>(i));
    map.rows[1].values.push_back(i % 3 == 0 || i >= 90 ? std::numeric_limits<double>::quiet_NaN()
                                                       : static_cast<double>(i % 3));
  }
  return map;
}

TEST(Thinned, HeatMapsThatAreNarrowEnoughStayAsTheyAre) {
  HeatMap map = rising(100);
  thin(map, 100);
  EXPECT_EQ(map.rows[0].values.size(), 100U);
  EXPECT_EQ(map.columns_each, 1U);
  EXPECT_EQ(map.columns, 0U);
}

TEST(Thinned, ColumnsOfAHeatMapBecomeTheMeanOfNeighbours) {
  Document document;
  document.heat_maps = {rising(100), {}};
  thin(document, 40);
  HeatMap& map = document.heat_maps[0];
  EXPECT_EQ(map.columns_each, 3U);
  EXPECT_EQ(map.columns, 100U);
  ASSERT_EQ(map.rows[0].values.size(), 34U);
  EXPECT_EQ(map.rows[0].values[0], 1);
  EXPECT_EQ(map.rows[0].values[32], 97);
  EXPECT_EQ(map.rows[0].values[33], 99) << "the rest, alone";
  EXPECT_EQ(map.rows[1].values[0], 1.5) << "of those that are there";
  EXPECT_TRUE(std::isnan(map.rows[1].values[32]));
  EXPECT_EQ(map.rows[2].values, std::vector<double>{4});
  thin(map, 0);
  EXPECT_EQ(map.columns_each, 15U);
  EXPECT_EQ(map.columns, 100U);
  EXPECT_EQ(map.rows[0].values.size(), 7U);
}

}  // namespace
}  // namespace ebb::page
