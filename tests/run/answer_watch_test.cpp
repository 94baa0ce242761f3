// SPDX-License-Identifier: Apache-2.0
#include "run/answer_watch.h"

#include <gtest/gtest.h>

namespace ebb::run {
namespace {

using Change = AnswerWatch::Change;

/// Seconds pass one by one; the first change, and after how many of them.
std::pair<Change, int> first_change(AnswerWatch& watch, int seconds, bool can_run = true) {
  for (int second = 1; second <= seconds; ++second) {
    const Change change = watch.passed(1, can_run);
    if (change != Change::none) return {change, second};
  }
  return {Change::none, seconds};
}

TEST(AnswerWatch, SaysOnceThatAnAnswerIsOwedForTooLong) {
  AnswerWatch watch;
  watch.asked();
  EXPECT_EQ(first_change(watch, 30), std::pair(Change::silent, 15));
  EXPECT_TRUE(watch.is_silent());
  EXPECT_EQ(first_change(watch, 60), std::pair(Change::lost, 45));
}

TEST(AnswerWatch, CountsOnlyWhileAnAnswerIsOwed) {
  AnswerWatch watch;
  EXPECT_EQ(first_change(watch, 100).first, Change::none) << "never asked";
  watch.asked();
  EXPECT_EQ(first_change(watch, 10).first, Change::none);
  EXPECT_EQ(watch.answered(false), Change::none);
  EXPECT_EQ(first_change(watch, 100).first, Change::none) << "has answered";
}

TEST(AnswerWatch, BeginsAnewWithEachAnswer) {
  AnswerWatch watch;
  watch.asked();
  first_change(watch, 10);
  watch.asked();
  watch.answered(true);  // the first question of two
  EXPECT_EQ(first_change(watch, 14).first, Change::none);
  EXPECT_EQ(first_change(watch, 14), std::pair(Change::silent, 1));
}

TEST(AnswerWatch, TellsWhoCameBack) {
  AnswerWatch watch;
  watch.asked();
  first_change(watch, 20);
  EXPECT_EQ(watch.answered(false), Change::back);
  EXPECT_FALSE(watch.is_silent());
  EXPECT_EQ(watch.answered(false), Change::none);
}

TEST(AnswerWatch, DoesNotCountTimeInWhichNobodyCanAnswer) {
  AnswerWatch watch;
  watch.asked();
  EXPECT_EQ(first_change(watch, 1000, false).first, Change::none) << "stopped by a debugger";
  EXPECT_EQ(first_change(watch, 15), std::pair(Change::silent, 15));
}

}  // namespace
}  // namespace ebb::run
