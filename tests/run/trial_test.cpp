// SPDX-License-Identifier: Apache-2.0
#include "run/trial.h"

#include <gtest/gtest.h>

namespace ebb::run {
namespace {

Trial trial(std::uint64_t steady, double cpu, double wall) {
  Trial made;
  made.steady_rss = steady;
  made.peak_rss = 2 * steady;
  made.cpu_seconds = cpu;
  made.wall_seconds = wall;
  return made;
}

TEST(BestOf, IsTheLeastMemoryThatTakesNoMoreTime) {
  EXPECT_EQ(best_of({trial(1000, 10, 10), trial(500, 10, 10), trial(400, 10.5, 10)}), 2U);
}

TEST(BestOf, LeavesWhatTakesATenthMoreTime) {
  EXPECT_EQ(best_of({trial(1000, 10, 10), trial(100, 12, 10), trial(500, 10, 10)}), 2U);
  EXPECT_EQ(best_of({trial(1000, 10, 10), trial(100, 10, 12)}), 0U);
}

TEST(BestOf, StaysWithTheCommandAsItIsForSmallChange) {
  EXPECT_EQ(best_of({trial(1000, 10, 10), trial(990, 10, 10)}), 0U);
}

TEST(BestOf, JudgesTheTimeOfACommandThatWaitsByItsWaiting) {
  EXPECT_EQ(best_of({trial(1000, 0.1, 10), trial(500, 0.25, 10)}), 1U);
}

TEST(MedianOf, TakesEachFigureByItself) {
  const Trial median = median_of({trial(300, 3, 10), trial(100, 9, 30), trial(200, 1, 20)});
  EXPECT_EQ(median.steady_rss, 200U);
  EXPECT_EQ(median.cpu_seconds, 3);
  EXPECT_EQ(median.wall_seconds, 20);
}

TEST(Settings, BeginWithTheCommandAsItIs) {
  const std::vector<Setting> settings = settings_worth_trying();
  ASSERT_GE(settings.size(), 4U);
  EXPECT_FALSE(settings.front().manage);
  EXPECT_TRUE(settings.front().arguments.empty());
}

TEST(TrySetting, MeasuresACommand) {
  const auto measured = try_setting({"sh", "-c", "exit 3"}, settings_worth_trying().front(), 0.01);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->ending.exit_code, 3);
  EXPECT_GT(measured->peak_rss, 0U);
  EXPECT_GT(measured->cpu_seconds, 0);
  const auto none = try_setting({"no-such-command"}, settings_worth_trying().front(), 0.01);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::Code::bad_input);
}

}  // namespace
}  // namespace ebb::run
