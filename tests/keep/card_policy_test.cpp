// SPDX-License-Identifier: Apache-2.0
#include "keep/card_policy.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kGiB;
using Lines = std::vector<std::string>;
using Moment = CardPolicy::Moment;
using sense::MemoryLevel;

/// A card of 100 GiB that one process is alone on.
fact::CardSample card(std::uint32_t index, std::uint64_t used, std::uint64_t cached) {
  return {index, {100 * kGiB, (100 - used - cached) * kGiB, (used + cached) * kGiB, cached * kGiB}};
}

class CardPolicyTest : public testing::Test {
 protected:
  bool look(Moment moment, std::uint64_t round, const std::vector<fact::CardSample>& cards) {
    return policy_.look({moment, round, 41.0}, cards, bounds_);
  }
  bool ends(std::uint64_t round, const std::vector<fact::CardSample>& cards) {
    return look(Moment::round_end, round, cards);
  }
  void gave_back(std::uint32_t index, std::uint64_t before, std::uint64_t after) {
    const base::DeviceChange change =
        base::DeviceChange::between(index, before * kGiB, after * kGiB);
    policy_.emptied({&change, 1}, 0.005);
  }

  CardBounds bounds_;
  CardPolicy policy_;
};

TEST_F(CardPolicyTest, NamesAllFullCardsInOneLine) {
  EXPECT_FALSE(ends(12, {card(0, 92, 0), card(1, 20, 0), card(2, 95, 0)}));
  EXPECT_EQ(policy_.lines(), Lines{"round 12: RAM at 41 %, GPU 0 at 92 %, GPU 2 at 95 %"});
  EXPECT_FALSE(ends(13, {card(0, 93, 0), card(1, 20, 0), card(2, 95, 0)}));
  EXPECT_EQ(policy_.lines(), Lines{}) << "once";
}

TEST_F(CardPolicyTest, SaysNoMoreThanIsKnown) {
  const std::vector cards{card(0, 92, 0)};
  policy_.look({}, cards, bounds_);
  EXPECT_EQ(policy_.lines(), Lines{"GPU 0 at 92 %"});
}

TEST_F(CardPolicyTest, EmptiesOnlyAtTheEndOfARoundAndAfterAFailedAllocation) {
  const std::vector full{card(0, 60, 38)};
  EXPECT_FALSE(look(Moment::any, 0, full));
  EXPECT_TRUE(ends(0, full));
  policy_.left_alone();
  EXPECT_TRUE(CardPolicy().look({Moment::failed_allocation, {}, {}}, full, bounds_));
  const std::vector roomy{card(0, 60, 20)};
  EXPECT_FALSE(CardPolicy().look({Moment::round_end, {}, {}}, roomy, bounds_));
  EXPECT_TRUE(CardPolicy().look({Moment::failed_allocation, {}, {}}, roomy, bounds_))
      << "somebody needs it, whatever the percentage";
  EXPECT_FALSE(
      CardPolicy().look({Moment::failed_allocation, {}, {}}, std::vector{card(0, 95, 4)}, bounds_))
      << "too little to be worth it";
}

TEST_F(CardPolicyTest, EmptiesOnceARound) {
  const std::vector full{card(0, 60, 38)};
  EXPECT_TRUE(look(Moment::failed_allocation, 0, full));
  gave_back(0, 98, 60);
  EXPECT_FALSE(look(Moment::failed_allocation, 0, full));
  EXPECT_TRUE(ends(1, {card(0, 80, 18)}));
  EXPECT_FALSE(ends(1, {card(0, 80, 18)})) << "announced twice";
}

TEST_F(CardPolicyTest, WhatOneCardTookAgainDoesNotCountForAnother) {
  EXPECT_TRUE(ends(0, {card(0, 60, 38), card(1, 10, 0)}));
  gave_back(0, 98, 60);
  EXPECT_FALSE(ends(1, {card(0, 60, 38), card(1, 10, 0)})) << "taken again";
  EXPECT_TRUE(ends(2, {card(0, 60, 38), card(1, 60, 38)}));
}

TEST_F(CardPolicyTest, WhatIsTakenAfterARoundWithRoomIsNotTakenAgain) {
  EXPECT_TRUE(ends(0, {card(0, 60, 38)}));
  gave_back(0, 98, 60);
  policy_.lasted();
  EXPECT_TRUE(ends(50, {card(0, 60, 38)})) << "another phase of the job";
}

TEST_F(CardPolicyTest, DoesNotAskAgainWhereNothingCanBeHad) {
  EXPECT_TRUE(ends(0, {card(0, 60, 38)}));
  policy_.emptied({}, 0.005);
  EXPECT_FALSE(ends(1, {card(0, 60, 38)})) << "the cache is in pieces between what is in use";
  EXPECT_EQ(policy_.lines().size(), 1U) << "that it is full";
}

TEST_F(CardPolicyTest, KeepsHeadroomAtTheEndOfRounds) {
  bounds_.headroom = 20 * kGiB;
  const std::vector cards{card(0, 60, 25)};
  EXPECT_FALSE(look(Moment::any, 0, cards));
  for (std::uint64_t round = 0; round < 3; ++round) {
    EXPECT_TRUE(ends(round, cards));
    gave_back(0, 85, 60);
  }
  EXPECT_FALSE(ends(3, {card(0, 90, 0)})) << "nothing is cached";
}

TEST_F(CardPolicyTest, TellsWhetherACardIsPressed) {
  EXPECT_FALSE(is_pressed(card(0, 96, 0).memory, bounds_));
  EXPECT_TRUE(is_pressed(card(0, 97, 0).memory, bounds_));
  bounds_.headroom = 5 * kGiB;
  EXPECT_TRUE(is_pressed(card(0, 96, 0).memory, bounds_));
  EXPECT_EQ(level_of(card(0, 90, 0).memory, bounds_.percent), MemoryLevel::warn);
  EXPECT_EQ(level_of(card(0, 89, 0).memory, bounds_.percent), MemoryLevel::normal);
}

TEST_F(CardPolicyTest, BoundsAreInOrder) {
  EXPECT_TRUE(check(CardBounds{}));
  for (const CardBounds& bad : {CardBounds{{98, 97}}, CardBounds{{0, 97}}, CardBounds{{90, 101}}}) {
    const auto checked = check(bad);
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().message.find("GPU"), std::string::npos);
  }
}

}  // namespace
}  // namespace ebb::keep
