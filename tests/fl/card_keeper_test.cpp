// SPDX-License-Identifier: Apache-2.0
#include "fl/card_keeper.h"

#include "fl/fake_card.h"

namespace ebb::fl {
namespace {

using base::kGiB;

class CardKeeperTest : public testing::Test {
 protected:
  FakeCard card_;
  CardKeeper keeper_{&card_, {90, 97}, 0};
};

TEST_F(CardKeeperTest, SaysNothingOfACardWithRoom) {
  card_.hold(50 * kGiB, 30 * kGiB);
  const auto done = keeper_.round_done(0, 40.0);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->memory.cached, 30 * kGiB);
  EXPECT_EQ(done->returned, 0U);
  EXPECT_EQ(card_.emptied, 0);
  EXPECT_TRUE(keeper_.lines().empty());
}

TEST_F(CardKeeperTest, NamesRoundAndBothMemoriesOnceWhereACardFills) {
  card_.hold(92 * kGiB, 0);
  keeper_.round_done(12, 41.0);
  keeper_.round_done(13, 41.0);
  EXPECT_EQ(keeper_.lines(), std::vector<std::string>{"round 12: RAM at 41 %, GPU 0 at 92 %"});
  card_.hold(20 * kGiB, 0);
  keeper_.round_done(14, 41.0);
  card_.hold(95 * kGiB, 0);
  keeper_.round_done(15, std::nullopt);
  EXPECT_EQ(keeper_.lines(), std::vector<std::string>{"round 15: GPU 0 at 95 %"});
}

TEST_F(CardKeeperTest, EmptiesACacheThatFillsTheCard) {
  card_.hold(60 * kGiB, 38 * kGiB);
  const auto done = keeper_.round_done(3, 10.0);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->returned, 38 * kGiB);
  EXPECT_EQ(done->memory.free, 40 * kGiB);
  EXPECT_EQ(card_.emptied, 1);
  const auto lines = keeper_.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find("gave 38.0 GiB back"), std::string::npos) << lines[1];
}

TEST_F(CardKeeperTest, LeavesASmallCacheAlone) {
  card_.hold(95 * kGiB, 4 * kGiB);
  keeper_.round_done(0, 10.0);
  EXPECT_EQ(card_.emptied, 0) << "less than 5 % of the card";
}

TEST_F(CardKeeperTest, DoesNotRepeatWhatWasInVain) {
  card_.hold(60 * kGiB, 38 * kGiB);
  keeper_.round_done(0, 10.0);
  card_.hold(60 * kGiB, 38 * kGiB);  // taken again in the next round
  keeper_.round_done(1, 10.0);
  keeper_.round_done(2, 10.0);
  EXPECT_EQ(card_.emptied, 1);
  const auto lines = keeper_.lines();
  EXPECT_NE(lines.back().find("taken again"), std::string::npos) << lines.back();
}

TEST_F(CardKeeperTest, RepeatsWhatLasted) {
  card_.hold(60 * kGiB, 38 * kGiB);
  keeper_.round_done(0, 10.0);
  card_.hold(60 * kGiB, 10 * kGiB);
  keeper_.round_done(1, 10.0);
  EXPECT_EQ(card_.emptied, 1);
  card_.hold(60 * kGiB, 38 * kGiB);
  keeper_.round_done(2, 10.0);
  EXPECT_EQ(card_.emptied, 2);
}

TEST_F(CardKeeperTest, KeepsHeadroomWhateverItCosts) {
  CardKeeper keeper(&card_, {90, 97}, 20 * kGiB);
  for (std::uint32_t round = 0; round < 3; ++round) {
    card_.hold(60 * kGiB, 25 * kGiB);
    const auto done = keeper.round_done(round, 10.0);
    ASSERT_TRUE(done);
    EXPECT_GE(done->memory.free, 20 * kGiB);
  }
  EXPECT_EQ(card_.emptied, 3);
  card_.hold(90 * kGiB, 0);
  keeper.round_done(3, 10.0);
  EXPECT_EQ(card_.emptied, 3) << "nothing is cached";
}

TEST_F(CardKeeperTest, DoesNothingWithoutACard) {
  card_.is_readable = false;
  EXPECT_FALSE(keeper_.round_done(0, 10.0));
  EXPECT_FALSE(CardKeeper(nullptr, {90, 97}, kGiB).round_done(0, 10.0));
}

}  // namespace
}  // namespace ebb::fl
