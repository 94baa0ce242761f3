// SPDX-License-Identifier: Apache-2.0
#include "fl/select/candidates.h"

#include <algorithm>
#include <set>

#include "fl/select_world.h"

namespace ebb::fl {
namespace {

constexpr std::uint32_t kEveryone = 300;
constexpr CandidateLimit kLimit = {40, 5};

std::unique_ptr<Selector> limited(std::string_view key, const CandidateLimit& limit = kLimit) {
  auto selector = create_selector(key, {}, limit);
  EBB_CHECK(selector.has_value());
  return *std::move(selector);
}

std::set<std::uint32_t> members_of(const std::vector<Cohort>& cohorts) {
  std::set<std::uint32_t> all;
  for (const Cohort& cohort : cohorts)
    all.insert(cohort.begin(), cohort.end());
  return all;
}

TEST(Candidates, OfMethodsThatAskEveryoneAreDrawnOnceAndNobodyElseIsAskedOrChosen) {
  const auto selector = limited("ml.fedcor");
  FakeFederation world(kEveryone);
  const std::vector<Cohort> cohorts = world.rounds(*selector, 5, 30);
  ASSERT_FALSE(world.probed.empty());
  const std::set<std::uint32_t> asked = members_of(world.probed);
  EXPECT_EQ(asked.size(), 40U);
  EXPECT_GT(*asked.rbegin(), 40U) << "numbers of clients, not of places among candidates";
  for (const std::uint32_t id : members_of(cohorts))
    EXPECT_EQ(asked.count(id), 1U) << id;
}

TEST(Candidates, ThatAreDrawnOnceFollowFromTheSeed) {
  const auto asked = [](std::uint64_t seed) {
    const auto selector = limited("ml.fedcor", {40, seed});
    FakeFederation world(kEveryone);
    world.rounds(*selector, 5, 2);
    return world.probed;
  };
  EXPECT_EQ(asked(5), asked(5));
  EXPECT_NE(asked(5), asked(6));
}

TEST(Candidates, GoOnAfterAResumeAsTheyWere) {
  const auto whole = limited("ml.fedcor");
  FakeFederation world(kEveryone);
  world.rounds(*whole, 5, 20);
  FakeFederation there = world;
  const auto resumed = limited("ml.fedcor");
  const auto state = base::parse_json(whole->state().text());
  ASSERT_TRUE(state);
  ASSERT_TRUE(resumed->restore(*state));
  EXPECT_EQ(there.rounds(*resumed, 5, 15), world.rounds(*whole, 5, 15));
}

TEST(Candidates, OfMethodsThatRememberNobodyAreOthersInEachRound) {
  for (const char* key : {"heuristic.mmr_diverse", "heuristic.label_coverage"}) {
    const auto selector = limited(key);
    FakeFederation world(kEveryone);
    const std::vector<Cohort> cohorts = world.rounds(*selector, 20, 30);
    EXPECT_GT(members_of(cohorts).size(), 200U) << key;
    for (const Cohort& cohort : cohorts)
      EXPECT_EQ(std::set<std::uint32_t>(cohort.begin(), cohort.end()).size(), 20U) << key;
  }
}

TEST(Candidates, AreEveryoneWhereThereAreNoMore) {
  for (const char* key : {"ml.fedcor", "heuristic.mmr_diverse"}) {
    FakeFederation one(40);
    FakeFederation other(40);
    EXPECT_EQ(one.rounds(*limited(key), 5, 20), other.rounds(*make_selector(key), 5, 20)) << key;
  }
}

TEST(Candidates, AreAsManyAsACohortAtLeast) {
  const auto selector = limited("heuristic.mmr_diverse", {10, 5});
  FakeFederation world(kEveryone);
  EXPECT_EQ(members_of(world.rounds(*selector, 25, 1)).size(), 25U);
}

TEST(Candidates, AreThoseOfTheMethodInAWrapper) {
  const auto selector = limited("wrapper.quota_safety:ml.fedcor");
  FakeFederation world(kEveryone);
  world.rounds(*selector, 20, 20);
  EXPECT_EQ(members_of(world.probed).size(), 40U);
  EXPECT_EQ(candidates_of("wrapper.quota_safety:ml.fedcor"), CandidatesDrawn::once);
  EXPECT_EQ(candidates_of("ml.fedcor"), CandidatesDrawn::once);
  EXPECT_EQ(candidates_of("heuristic.random"), CandidatesDrawn::never);
}

}  // namespace
}  // namespace ebb::fl
