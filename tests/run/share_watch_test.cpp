// SPDX-License-Identifier: Apache-2.0
#include "run/share_watch.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "run/pace.h"

namespace ebb::run {
namespace {

using base::kMiB;

constexpr double kCost = 0.001;
constexpr double kPause = 1;

TEST(ShareWatch, RestsUntilAProcessComes) {
  ShareWatch watch;
  EXPECT_FALSE(watch.is_due(1e9));
  watch.came(5);
  EXPECT_FALSE(watch.is_due(5));
  EXPECT_TRUE(watch.is_due(7)) << "soon, and not a minute later";
  watch.rest();
  EXPECT_FALSE(watch.is_due(1e9));
}

TEST(ShareWatch, OneReadingIsEnoughForAPool) {
  ShareWatch watch;
  watch.came(5);
  const double due = watch.next();
  watch.came(5.05);
  EXPECT_EQ(watch.next(), due);
}

TEST(ShareWatch, ReadsOftenWhilePagesBecomePrivateAndSeldomWhileNothingMoves) {
  ShareWatch watch;
  std::uint64_t shared = 500 * kMiB;
  double now = 0;
  for (int i = 0; i < 10; ++i) {
    watch.measured(now, shared, kCost, kPause);
    EXPECT_EQ(watch.next(), now + kPause) << i;
    now = watch.next();
    shared -= 10 * kMiB;
  }
  shared += 10 * kMiB;
  double last = 0;
  for (int i = 0; i < 10; ++i) {
    watch.measured(now, shared, kCost, kPause);
    EXPECT_GE(watch.next() - now, last);
    last = watch.next() - now;
    now = watch.next();
  }
  EXPECT_EQ(last, 60);
  watch.measured(now, shared - 2 * kMiB, kCost, kPause);
  EXPECT_EQ(watch.next(), now + kPause) << "it moves again";
}

TEST(ShareWatch, WhatIsNotSharedOrNotKnownIsReadOnceAMinute) {
  ShareWatch watch;
  watch.measured(3, 0, kCost, kPause);
  EXPECT_EQ(watch.next(), 63);
  watch.measured(3, std::nullopt, kCost, kPause);
  EXPECT_EQ(watch.next(), 63);
}

TEST(ShareWatch, CostlyReadingsHaveToWaitHoweverManyProcessesCome) {
  ShareWatch watch;
  double spent = 0;
  double now = 0;
  for (; now < 1000; now += 0.01) {
    watch.came(now);
    if (!watch.is_due(now)) continue;
    spent += 0.05;
    watch.measured(now, 500 * kMiB, 0.05, 0.05 / kEarlyShare);
  }
  EXPECT_LT(spent, 0.25 + now * kEarlyShare);
  EXPECT_GT(spent, 1);
}

TEST(Pace, IsDenseAtFirstAndEndsAtTheUsualInterval) {
  EXPECT_EQ(early_interval(0, 0), kShortestInterval);
  EXPECT_EQ(early_interval(40, 0), 0.5);
  EXPECT_GE(early_interval(3600, 0), 1);
  // At any time there are enough samples at the pace of the last ones.
  for (const double seconds : {9.0, 15.0, 30.0, 60.0})
    EXPECT_GE(seconds / early_interval(seconds, 0), kEarlySamples);
}

TEST(Pace, EarlySamplesTakeNoLargerShareOfTheTime) {
  for (const double cost : {0.0001, 0.001, 0.01})
    EXPECT_LE(cost / early_interval(0, cost), kEarlyShare * 1.0001);
}

}  // namespace
}  // namespace ebb::run
