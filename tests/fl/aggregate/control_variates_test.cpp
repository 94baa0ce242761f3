// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/control_variates.h"

#include "fl/meeting_ranks.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

std::unique_ptr<ControlVariates> controls(std::uint32_t clients) {
  auto made = ControlVariates::create({2, clients, 2}, "");
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

std::vector<float> correction(const ControlVariates& of, std::uint32_t client) {
  std::vector<float> found(2);
  of.correction(client, found);
  return found;
}

TEST(ControlVariates, OfTheServerIsTheMeanOfAllClients) {
  const auto all = controls(4);
  EXPECT_EQ(correction(*all, 0), (std::vector<float>{0, 0}));
  std::vector<float> old(2);
  ASSERT_TRUE(all->learn(0, std::vector<float>{4, -8}, old));
  ASSERT_TRUE(all->learn(3, std::vector<float>{8, 0}, old));
  EXPECT_EQ(correction(*all, 1), (std::vector<float>{0, 0})) << "the server learns at the end";
  ASSERT_TRUE(all->finish_round({}, *alone()));
  EXPECT_EQ(correction(*all, 1), (std::vector<float>{3, -2}));
  EXPECT_EQ(correction(*all, 0), (std::vector<float>{-1, 6}));
  ASSERT_TRUE(all->learn(0, std::vector<float>{0, 0}, old));
  EXPECT_EQ(old, (std::vector<float>{4, -8}));
  ASSERT_TRUE(all->finish_round({}, *alone()));
  EXPECT_EQ(correction(*all, 1), (std::vector<float>{2, 0}));
  EXPECT_FALSE(all->learn(0, std::vector<float>{NAN, 0}, old));
  EXPECT_EQ(correction(*all, 0), (std::vector<float>{2, 0})) << "nothing was learned";
}

TEST(ControlVariates, AreTheSameOnEveryRankAndAfterACheckpoint) {
  const support::TemporaryDirectory folder;
  std::vector<std::vector<std::byte>> saved;
  on_meeting_ranks(2, [&](Ranks& ranks) {
    auto made = ControlVariates::create({2, 4, 2}, ranks.is_first() ? folder.path() : "");
    ASSERT_TRUE(made);
    ControlVariates& mine = **made;
    std::vector<float> old(2);
    const std::uint32_t client = ranks.is_first() ? 2 : 1;
    ASSERT_TRUE(mine.learn(client, std::vector<float>{4.0F * static_cast<float>(client), 0}, old));
    const std::vector<ControlVariates::Learner> learners = {{2, ranks.is_first()},
                                                            {1, !ranks.is_first()}};
    ASSERT_TRUE(mine.finish_round(learners, ranks));
    EXPECT_EQ(correction(mine, 0), (std::vector<float>{3, 0}));
    EXPECT_EQ(correction(mine, 1), (std::vector<float>{-1, 0}));
    EXPECT_EQ(correction(mine, 2), (std::vector<float>{-5, 0}));
    if (!ranks.is_first()) return;
    ASSERT_TRUE(mine.keep());
    for (const std::span<std::byte> part : mine.state())
      saved.emplace_back(part.begin(), part.end());
    ASSERT_TRUE(mine.learn(2, std::vector<float>{100, 100}, old));
  });
  on_meeting_ranks(2, [&](Ranks& ranks) {
    auto made = ControlVariates::create({2, 4, 2}, ranks.is_first() ? folder.path() : "");
    ASSERT_TRUE(made);
    const auto parts = (*made)->state();
    ASSERT_EQ(parts.size(), saved.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      std::copy(saved[i].begin(), saved[i].end(), parts[i].begin());
    const auto restored = (*made)->restored(ranks);
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(correction(**made, 0), (std::vector<float>{3, 0}));
    EXPECT_EQ(correction(**made, 1), (std::vector<float>{-1, 0}));
    EXPECT_EQ(correction(**made, 2), (std::vector<float>{-5, 0}));
  });
}

}  // namespace
}  // namespace ebb::fl
