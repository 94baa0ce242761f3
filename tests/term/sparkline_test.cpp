// SPDX-License-Identifier: Apache-2.0
#include "term/sparkline.h"

#include <gtest/gtest.h>

#include <vector>

#include "term/style.h"

namespace ebb::term {
namespace {

TEST(Sparkline, GoesFromLowestToHighest) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(std::vector<double>{7, 0}, 8), "█▁") << "no wider than there are values";
}

TEST(Sparkline, KeepsPeaksOfALongSeries) {
  std::vector<double> values(1000, 1);
  values[777] = 9;
  const std::string line = sparkline(values, 10);
  EXPECT_EQ(display_width(line), 10U);
  EXPECT_NE(line.find("█"), std::string::npos);
}

TEST(Sparkline, ShowsNoHillsInNoise) {
  EXPECT_EQ(sparkline(std::vector<double>{100, 101, 100}, 3, 50), "▁▁▁");
  EXPECT_EQ(sparkline(std::vector<double>{5, 5, 5}, 3), "▁▁▁");
}

TEST(Sparkline, OfNothingIsNothing) {
  EXPECT_EQ(sparkline({}, 5), "");
  EXPECT_EQ(sparkline(std::vector<double>{1}, 0), "");
}

}  // namespace
}  // namespace ebb::term
