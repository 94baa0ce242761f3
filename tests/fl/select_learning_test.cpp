// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "fl/select_world.h"

namespace ebb::fl {
namespace {

std::vector<Cohort> last_of(const std::vector<Cohort>& cohorts, std::ptrdiff_t count) {
  return {cohorts.end() - count, cohorts.end()};
}

TEST(EpsilonGreedy, ReturnsToThoseWithTheHighestLossesAndNowAndThenToAnyone) {
  expect_property("ml.bandit.epsilon_greedy", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = [](const FakeFederation&, std::uint32_t id) { return id < 10 ? 2 + 0.1 * id : 1; };
    const std::vector<Cohort> cohorts = last_of(world.rounds(selector, 10, 110), 100);
    const double best = mean_of(cohorts, [](std::uint32_t id) { return id < 10; });
    return best > 0.85 && best < 0.96;
  });
}

TEST(EpsilonGreedy, TriesEveryoneBeforeItChooses) {
  expect_property("ml.bandit.epsilon_greedy", [](Selector& selector) {
    FakeFederation world(100);
    const std::vector<int> counts = turns(world.rounds(selector, 10, 12), 100);
    return *std::min_element(counts.begin(), counts.end()) > 0;
  });
}

/// Many clients, of whom samples alone decide the loss: too many to try them all.
FakeFederation samples_decide(double (*loss)(double)) {
  FakeFederation world(600);
  for (Client& client : world.clients)
    client.labels.assign(10, client.samples / 10);
  world.loss = [loss](const FakeFederation& now, std::uint32_t id) {
    return loss(now.clients[id].samples / 1000.0);
  };
  return world;
}

double mean_loss_at_last(Selector& selector, double (*loss)(double), int rounds) {
  FakeFederation world = samples_decide(loss);
  const std::vector<Cohort> cohorts = last_of(world.rounds(selector, 10, rounds), 20);
  return mean_of(cohorts, [&](std::uint32_t id) { return world.loss(world, id); });
}

double more_is_harder(double samples) {
  return 3 * samples;
}

double middling_is_hardest(double samples) {
  return 3 * std::exp(-std::pow((samples - 0.5) / 0.12, 2));
}

TEST(LinUcb, LearnsWhoseLossIsHighFromWhatIsKnownOfThem) {
  expect_property("ml.bandit.linucb", [](Selector& selector) {
    return mean_loss_at_last(selector, more_is_harder, 50) > 2.1;
  });
}

TEST(NeuralLinearUcb, LearnsWhoseLossIsHighWhereNoLineTellsIt) {
  expect_property("ml.neural_linear_ucb", [](Selector& selector) {
    return mean_loss_at_last(selector, middling_is_hardest, 60) > 2;
  });
}

TEST(ContextualBandits, LearnFromTheContextAtTheTimeOfTheChoice) {
  for (const std::string_view key : {"ml.bandit.linucb", "ml.neural_linear_ucb"}) {
    // An update that arrives rounds later must teach the same as one that arrives at once.
    const auto state_with_delay = [&](int delay) {
      const auto selector = make_selector(key);
      FakeFederation world(20);
      const Cohort cohort = world.choose(*selector, 4);
      for (const std::uint32_t id : cohort)
        world.take_part(id);
      world.now += static_cast<std::uint32_t>(delay);
      for (Client& client : world.clients)
        client.samples += static_cast<std::uint32_t>(delay);
      selector->learn({world.now, cohort, world.clients});
      return selector->state().text();
    };
    EXPECT_EQ(state_with_delay(0), state_with_delay(3)) << key;
  }
}

/// Losses move up and down together within each of five groups.
FakeFederation moving_groups() {
  FakeFederation world(100);
  for (Client& client : world.clients)
    client.samples = 100;
  world.loss = [](const FakeFederation& now, std::uint32_t id) {
    double loss = 10;
    for (std::uint32_t round = 0; round <= now.now; ++round) {
      loss += 0.2 * Random(3, Purpose::world, round, id % 5).normal();
      loss += 0.01 * Random(4, Purpose::world, round, id).normal();
    }
    return loss;
  };
  return world;
}

TEST(FedCor, ChoosesOneOfEachGroupWhoseLossesMoveTogether) {
  expect_property("ml.fedcor", [](Selector& selector) {
    FakeFederation world = moving_groups();
    const std::vector<Cohort> cohorts = world.rounds(selector, 5, 24);
    const std::vector<Cohort> chosen(cohorts.begin() + 15, cohorts.end());
    return mean_groups(chosen, [](std::uint32_t id) { return id % 5; }) > 4.7;
  });
}

TEST(FedCor, PrefersThoseWhoMoveTheLossOfMostData) {
  expect_property("ml.fedcor", [](Selector& selector) {
    FakeFederation world = moving_groups();
    for (std::uint32_t id = 0; id < 100; ++id)
      world.clients[id].samples = id % 5 == 3 ? 1000 : 10;
    const std::vector<Cohort> cohorts = world.rounds(selector, 1, 24);
    const std::vector<Cohort> chosen(cohorts.begin() + 15, cohorts.end());
    return mean_of(chosen, [](std::uint32_t id) { return id % 5 == 3; }) > 0.85;
  });
}

TEST(FedCor, AnnealsThoseItHasChosen) {
  const auto selector = make_selector("ml.fedcor", {{"annealing", 0.5}, {"interval", 30}});
  FakeFederation world = moving_groups();
  const std::vector<Cohort> cohorts = world.rounds(*selector, 5, 35);
  const std::vector<int> counts = turns({cohorts.begin() + 15, cohorts.end()}, 100);
  EXPECT_LE(*std::max_element(counts.begin(), counts.end()), 4);
}

TEST(FedCor, MeasuresEveryoneAroundRandomRoundsAlone) {
  const auto selector = make_selector("ml.fedcor", {{"warm_up", 3}, {"interval", 10}});
  FakeFederation world(20);
  std::vector<std::uint32_t> measured;
  for (std::uint32_t round = 0; round < 24; ++round) {
    world.probed.clear();
    world.round(*selector, 4);
    if (world.probed.empty()) continue;
    EXPECT_EQ(world.probed.back().size(), 20U);
    measured.push_back(round);
  }
  EXPECT_EQ(measured, (std::vector<std::uint32_t>{0, 1, 2, 3, 12, 13, 22, 23}));
}

TEST(DivFl, ChoosesUpdatesThatStandForEveryone) {
  expect_property("ml.divfl", [](Selector& selector) {
    FakeFederation world(100);
    world.everyone_takes_part();
    const auto group = [](std::uint32_t id) { return id % 10; };
    return mean_groups(world.rounds(selector, 10, 30), group) > 9.5;
  });
}

TEST(DivFl, LeavesOutAnOutlierThatStandsForNobodyElse) {
  expect_property("ml.divfl", [](Selector& selector) {
    FakeFederation world(101);
    world.sketch_group = [](std::uint32_t id) { return id == 100 ? 60 : id % 4; };
    world.everyone_takes_part();
    const std::vector<Cohort> cohorts = world.rounds(selector, 4, 100);
    return turns(cohorts, 101)[100] == 0;
  });
}

TEST(DivFl, ExploresTheNeverSeenFirst) {
  expect_property("ml.divfl", [](Selector& selector) {
    FakeFederation world(50);
    return turns(world.rounds(selector, 10, 5), 50) == std::vector<int>(50, 1);
  });
}

}  // namespace
}  // namespace ebb::fl
