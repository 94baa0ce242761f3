// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup_cost.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kGiB;
using base::kMiB;

TEST(CleanupCostTest, BeginsWithAGuess) {
  const CleanupCost cost;
  EXPECT_NEAR(cost.expected(kGiB), 0.09, 0.001);
  EXPECT_EQ(cost.expected(0), 0);
  EXPECT_EQ(cost.spent(), 0);
}

TEST(CleanupCostTest, LearnsWhatAByteCosts) {
  CleanupCost cost;
  for (int i = 0; i < 8; ++i)
    cost.learn(kGiB, 1.0);
  EXPECT_NEAR(cost.expected(kGiB), 1.0, 0.01);
  EXPECT_NEAR(cost.expected(kGiB / 2), 0.5, 0.01);
  EXPECT_EQ(cost.spent(), 8.0);
}

TEST(CleanupCostTest, LearnsNothingFromLittle) {
  CleanupCost cost;
  cost.learn(kMiB, 1.0);
  EXPECT_NEAR(cost.expected(kGiB), 0.09, 0.001);
  EXPECT_EQ(cost.spent(), 1.0);
}

TEST(CleanupCostTest, ExpectsNoMoreThanTheLastOneTook) {
  CleanupCost cost;
  cost.learn(kGiB, 1.0);
  EXPECT_EQ(cost.expected(100 * kGiB), 1.0);
  cost.learn(kMiB, 0.01);
  EXPECT_EQ(cost.expected(100 * kGiB), 0.01);
}

}  // namespace
}  // namespace ebb::keep
