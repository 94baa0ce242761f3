// SPDX-License-Identifier: Apache-2.0
#include "fl/card_groups.h"

#include "fl/meeting_ranks.h"

namespace ebb::fl {
namespace {

TEST(CardGroups, ComeBackAsTheyWere) {
  CardGroups groups{50, 1600};
  EXPECT_FALSE(card_groups_from(to_json(groups))->rounding_from);
  groups.halve(7);
  const auto back = card_groups_from(to_json(groups));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->clients, 25U);
  EXPECT_EQ(back->pictures, 1600U);
  EXPECT_EQ(back->rounding_from, 7U);
}

TEST(CardGroups, AreNothingWhereTheyAreDamaged) {
  for (const char* text :
       {"null", "3", "{}", R"({"clients": 0, "pictures": 2, "rounding_from_round": null})",
        R"({"clients": 1, "rounding_from_round": null})",
        R"({"clients": 1, "pictures": 2, "rounding_from_round": "x"})",
        R"({"clients": 99999999999, "pictures": 2, "rounding_from_round": null})"})
    EXPECT_FALSE(card_groups_from(*base::parse_json(text))) << text;
}

TEST(CardGroups, AreHalvedDownToOneAndRememberTheFirstTime) {
  CardGroups groups{7, 64};
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t round = 3; groups.clients > 1; ++round) {
    groups.halve(round);
    sizes.push_back(groups.clients);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{4, 2, 1}));
  groups.evaluate_fewer(32, 9);
  EXPECT_EQ(groups.pictures, 32U);
  EXPECT_EQ(groups.rounding_from, 3U);
}

TEST(CardGroups, AreTheSameOnAllRanks) {
  std::vector<CardGroups> groups = {{50, 1600}, {32, 2048}, {50, 1024, 6}};
  on_meeting_ranks(3, [&](Ranks& ranks) { ASSERT_TRUE(agree(groups[ranks.rank()], ranks)); });
  for (const CardGroups& one : groups) {
    EXPECT_EQ(one.clients, 32U);
    EXPECT_EQ(one.pictures, 1024U);
    EXPECT_EQ(one.rounding_from, 6U);
  }
  groups = {{8, 64}, {8, 64}};
  on_meeting_ranks(2, [&](Ranks& ranks) { ASSERT_TRUE(agree(groups[ranks.rank()], ranks)); });
  EXPECT_FALSE(groups[1].rounding_from);
}

}  // namespace
}  // namespace ebb::fl
