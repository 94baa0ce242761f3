// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <set>

#include "fl/select_world.h"

namespace ebb::fl {
namespace {

double loss_is_number(const FakeFederation&, std::uint32_t client) {
  return client;
}

TEST(PowerOfChoice, ChoosesThoseOnWhomThePresentModelDoesWorst) {
  expect_property("system_aware.poc", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = loss_is_number;
    const auto loss = [](std::uint32_t id) { return double(id); };
    return mean_of(world.rounds(selector, 10, 30), loss) > 80;
  });
}

TEST(PowerOfChoice, AsksAPoolForFreshLossesAndTakesTheHighestOfIt) {
  const auto selector = make_selector("system_aware.poc", {{"pool", 3}});
  FakeFederation world(100);
  world.everyone_takes_part();
  world.loss = loss_is_number;
  for (int round = 0; round < 20; ++round) {
    Cohort cohort = world.round(*selector, 10);
    Cohort pool = world.probed.back();
    ASSERT_EQ(pool.size(), 30U);
    std::sort(pool.rbegin(), pool.rend());
    pool.resize(10);
    EXPECT_EQ(cohort, pool);
  }
}

TEST(PowerOfChoice, DrawsItsPoolInProportionToData) {
  const auto selector = make_selector("system_aware.poc", {{"pool", 1}});
  FakeFederation world(100);
  for (std::uint32_t id = 0; id < 100; ++id)
    world.clients[id].samples = id < 10 ? 900 : 100;
  const std::vector<int> counts = turns(world.rounds(*selector, 1, 2000), 100);
  EXPECT_NEAR(std::accumulate(counts.begin(), counts.begin() + 10, 0), 1000, 70);
}

TEST(PowerOfChoice, PassesOnThatNobodyAnswers) {
  for (const std::string_view key : {"system_aware.poc", "ml.fedcor"}) {
    const FakeFederation world(10);
    Random random(1, Purpose::selection);
    const Choice::Probe probe = [](std::span<const std::uint32_t>) {
      return base::Result<std::vector<double>>(base::error(base::Code::io, "nobody answers"));
    };
    const auto cohort = make_selector(key)->select({0, 2, world.clients, {}, random, probe});
    ASSERT_FALSE(cohort.has_value());
    EXPECT_EQ(cohort.error().message, "nobody answers");
  }
}

TEST(FedCs, MeetsTheDeadlineWhereEnoughClientsCan) {
  expect_property("system_aware.fedcs", [](Selector& selector) {
    FakeFederation world(100);
    for (std::uint32_t id = 0; id < 100; ++id)
      world.clients[id].seconds = id % 5 == 0 ? 10 : 50 + id;
    world.deadline = 30;
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 30);
    return mean_of(cohorts, [](std::uint32_t id) { return id % 5 == 0 ? 1 : 0; }) == 1;
  });
}

TEST(FedCs, ChoosesTheFastestOfThoseAskedWithoutADeadline) {
  expect_property("system_aware.fedcs", [](Selector& selector) {
    FakeFederation world(90);
    for (std::uint32_t id = 0; id < 90; ++id)
      world.clients[id].seconds = 1 + id;
    return mean_of(world.rounds(selector, 10, 30), [](std::uint32_t id) { return id; }) < 20;
  });
}

TEST(FedCs, LeavesNoClientOutWhoseUploadFitsBehindTheOthers) {
  // Three train for 9 s and upload for 1 s each, one after the other: the third ends at 12 s.
  const auto selector = make_selector("system_aware.fedcs", {{"pool", 1000}});
  FakeFederation world(6);
  for (std::uint32_t id = 0; id < 6; ++id)
    world.clients[id].seconds = id < 3 ? 10 : 40;
  world.deadline = 12;
  Cohort cohort = world.choose(*selector, 3);
  std::sort(cohort.begin(), cohort.end());
  EXPECT_EQ(cohort, (Cohort{0, 1, 2}));
}

TEST(TiFl, ChoosesEveryCohortFromOneTier) {
  expect_property("system_aware.tifl", [](Selector& selector) {
    FakeFederation world(90);
    const auto tier = [&](std::uint32_t id) { return world.clients[id].tier; };
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 60);
    std::set<std::uint32_t> tiers;
    for (const Cohort& cohort : cohorts)
      tiers.insert(tier(cohort[0]));
    return mean_groups(cohorts, tier) == 1 && tiers.size() == 3;
  });
}

TEST(TiFl, ComesBackToTheTierThatDoesWorst) {
  expect_property("system_aware.tifl", [](Selector& selector) {
    FakeFederation world(90);
    world.loss = [](const FakeFederation& now, std::uint32_t id) {
      return now.clients[id].tier == 2 ? 2.0 : 1.0;
    };
    world.everyone_takes_part();
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 60);
    return mean_of(cohorts, [&](std::uint32_t id) { return world.clients[id].tier == 2; }) > 0.5;
  });
}

TEST(TiFl, LimitsATierByItsCredits) {
  const auto selector = make_selector("system_aware.tifl", {{"credits", 5}});
  FakeFederation world(90);
  world.loss = [](const FakeFederation& now, std::uint32_t id) {
    return now.clients[id].tier == 0 ? 2.0 : 1.0;
  };
  world.everyone_takes_part();
  // 5, 10 and 15 rounds for the slow, the middle and the fast tier.
  for (int cycle = 0; cycle < 2; ++cycle) {
    std::vector<int> rounds(3);
    for (const Cohort& cohort : world.rounds(*selector, 10, 30))
      ++rounds[world.clients[cohort[0]].tier];
    EXPECT_EQ(rounds, (std::vector<int>{5, 10, 15}));
  }
}

TEST(Oort, PrefersMuchLossAndPunishesTheSlow) {
  expect_property("system_aware.oort", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = [](const FakeFederation&, std::uint32_t id) { return id < 40 ? 3 : 0.5; };
    for (std::uint32_t id = 0; id < 100; ++id) {
      world.clients[id].samples = 300;
      world.clients[id].seconds = id >= 20 && id < 40 ? 20 : 1;
    }
    world.everyone_takes_part();
    world.now = 50;
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 30);
    const double fast = mean_of(cohorts, [](std::uint32_t id) { return id < 20; });
    const double slow = mean_of(cohorts, [](std::uint32_t id) { return id >= 20 && id < 40; });
    return fast > 0.9 && slow < 0.05;
  });
}

TEST(Oort, CountsSamplesAsWellAsLoss) {
  expect_property("system_aware.oort", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = [](const FakeFederation&, std::uint32_t) { return 1; };
    for (std::uint32_t id = 0; id < 100; ++id) {
      world.clients[id].samples = id < 20 ? 900 : 100;
      world.clients[id].seconds = 1;
    }
    world.everyone_takes_part();
    return mean_of(world.rounds(selector, 10, 30), [](std::uint32_t id) { return id < 20; }) > 0.8;
  });
}

TEST(Oort, ExploresTheFastFirstAndEverLessUntilAllAreKnown) {
  const auto selector = make_selector("system_aware.oort");
  FakeFederation world(400);
  for (std::uint32_t id = 0; id < 400; ++id)
    world.clients[id].speed = id < 200 ? 10 : 0.1;
  std::vector<int> fresh;
  int fast = 0;
  for (int round = 0; round < 30; ++round) {
    const FakeFederation before = world;
    const Cohort cohort = world.round(*selector, 10);
    int unseen = 0;
    for (const std::uint32_t id : cohort) {
      if (before.clients[id].loss) continue;
      ++unseen;
      fast += round < 15 && id < 200;
    }
    fresh.push_back(unseen);
  }
  EXPECT_EQ(fresh[0], 10);
  EXPECT_EQ(fresh[1], 9);
  EXPECT_EQ(fresh[29], 5);
  EXPECT_GT(fast, 100);
}

TEST(Oort, ReturnsToThoseLongNotSeen) {
  const auto selector = make_selector("system_aware.oort");
  FakeFederation world(60);
  world.loss = [](const FakeFederation&, std::uint32_t) { return 1; };
  for (Client& client : world.clients) {
    client.samples = 100;
    client.seconds = 1;
  }
  world.now = 1;
  world.everyone_takes_part();
  world.now = 200;
  for (std::uint32_t id = 0; id < 50; ++id)
    world.take_part(id);
  world.now = 201;
  Cohort cohort = world.choose(*selector, 10);
  std::sort(cohort.begin(), cohort.end());
  EXPECT_EQ(cohort, (Cohort{50, 51, 52, 53, 54, 55, 56, 57, 58, 59}));
}

TEST(Oort, LetsSlowerClientsInWhenCohortsGainLess) {
  const auto pace_after = [](FakeFederation::Loss loss) {
    const auto selector = make_selector("system_aware.oort", {{"window", 5}});
    FakeFederation world(50);
    world.loss = std::move(loss);
    for (Client& client : world.clients)
      client.samples = 100;
    world.everyone_takes_part();
    world.rounds(*selector, 10, 30);
    return *selector->state().find("pace")->as_double();
  };
  EXPECT_NEAR(
      pace_after([](const FakeFederation& world, std::uint32_t) { return 10.0 - 0.1 * world.now; }),
      0.3 + 5 * 0.05, 1e-9);
  EXPECT_EQ(pace_after([](const FakeFederation&, std::uint32_t) { return 1; }), 0.3);
}

/// The longest time anyone waited for a turn, in rounds.
int longest_wait(const std::vector<Cohort>& cohorts, std::size_t clients) {
  std::vector<int> last(clients, -1);
  int longest = 0;
  for (int round = 0; round < static_cast<int>(cohorts.size()); ++round) {
    for (const std::uint32_t id : cohorts[static_cast<std::size_t>(round)]) {
      longest = std::max(longest, round - last[id]);
      last[id] = round;
    }
  }
  for (const int round : last)
    longest = std::max(longest, static_cast<int>(cohorts.size()) - round);
  return longest;
}

TEST(QuotaSafety, LetsNobodyWaitMuchLongerThanTheWindow) {
  const Property waits_are_short = [](Selector& selector) {
    FakeFederation world(100);
    return longest_wait(world.rounds(selector, 10, 100), 100) <= 30;
  };
  expect_property("wrapper.quota_safety", waits_are_short);
  expect_property("wrapper.quota_safety:heuristic.random", waits_are_short);
}

TEST(QuotaSafety, LeavesTheRestToTheBase) {
  expect_property("wrapper.quota_safety:heuristic.topk_loss", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = [](const FakeFederation&, std::uint32_t id) { return id < 10 ? 9 : 1; };
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 100);
    const std::vector<Cohort> later(cohorts.begin() + 20, cohorts.end());
    const double preferred = mean_of(later, [](std::uint32_t id) { return id < 10; });
    return preferred > 0.4 && preferred < 0.7;
  });
}

}  // namespace
}  // namespace ebb::fl
