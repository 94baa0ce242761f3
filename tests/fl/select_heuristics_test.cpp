// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <set>

#include "fl/select_world.h"

namespace ebb::fl {
namespace {

double constant_loss(const FakeFederation&, std::uint32_t /*client*/) {
  return 1;
}

double loss_by_number(const FakeFederation&, std::uint32_t client) {
  return 1 + client % 37 + 0.01 * client;
}

/// The clients with the highest values, as a set.
std::set<std::uint32_t> top(const std::vector<double>& values, std::size_t count) {
  std::vector<std::uint32_t> order(values.size());
  for (std::uint32_t id = 0; id < order.size(); ++id)
    order[id] = id;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::set<std::uint32_t> as_set(const Cohort& cohort) {
  return {cohort.begin(), cohort.end()};
}

TEST(RandomSelection, ChoosesEveryClientAndEveryPairEquallyOften) {
  const Property is_uniform = [](Selector& selector) {
    FakeFederation world(20);
    const std::vector<Cohort> cohorts = world.rounds(selector, 5, 2000);
    const std::vector<int> counts = turns(cohorts, 20);
    // 500 expected with a deviation of 19; pairs 105 with one of 10.
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    const auto together = std::count_if(cohorts.begin(), cohorts.end(), [](const Cohort& cohort) {
      return as_set(cohort).count(0) + as_set(cohort).count(1) == 2;
    });
    return *least > 420 && *most < 580 && together > 60 && together < 150;
  };
  expect_property("heuristic.random", is_uniform, "heuristic.round_robin");
  expect_property("baseline.fedavg", is_uniform, "heuristic.topk_loss");
}

TEST(RoundRobin, GivesEveryoneOneTurnBeforeAnyoneGetsTheSecond) {
  expect_property("heuristic.round_robin", [](Selector& selector) {
    FakeFederation world(30);
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 6);
    return turns({cohorts.begin(), cohorts.begin() + 3}, 30) == std::vector<int>(30, 1) &&
           turns(cohorts, 30) == std::vector<int>(30, 2);
  });
}

TEST(ProportionalToData, ChoosesOneWithNineTimesTheDataNineTimesAsOften) {
  expect_property("heuristic.proportional_data", [](Selector& selector) {
    FakeFederation world(100);
    for (std::uint32_t id = 0; id < 100; ++id)
      world.clients[id].samples = id < 10 ? 900 : 100;
    const std::vector<int> counts = turns(world.rounds(selector, 1, 4000), 100);
    const int large = std::accumulate(counts.begin(), counts.begin() + 10, 0);
    return large > 1900 && large < 2100;
  });
}

TEST(TopLoss, ChoosesTheNeverSeenAndThenTheHighestLosses) {
  expect_property("heuristic.topk_loss", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = loss_by_number;
    for (std::uint32_t id = 4; id < 100; ++id)
      world.take_part(id);
    std::vector<double> losses;
    for (const Client& client : world.clients)
      losses.push_back(client.loss.value_or(1e9));
    return as_set(world.choose(selector, 10)) == top(losses, 10);
  });
}

TEST(GradientNorm, ChoosesTheNeverSeenAndThenTheLargestUpdatesWhateverTheirLoss) {
  expect_property("heuristic.gradient_norm", [](Selector& selector) {
    FakeFederation world(100);
    world.norm = loss_by_number;
    world.loss = [](const FakeFederation& now, std::uint32_t id) {
      return 100 - loss_by_number(now, id);
    };
    for (std::uint32_t id = 0; id < 97; ++id)
      world.take_part(id);
    std::vector<double> norms;
    for (const Client& client : world.clients)
      norms.push_back(client.gradient_norm.value_or(1e9));
    return as_set(world.choose(selector, 10)) == top(norms, 10);
  });
}

TEST(FairnessAdjusted, EvensOutParticipationWhereLossesAreEqual) {
  expect_property("heuristic.fairness_adjusted", [](Selector& selector) {
    FakeFederation world(60);
    world.loss = constant_loss;
    const std::vector<int> counts = turns(world.rounds(selector, 7, 50), 60);
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *most - *least <= 1;
  });
}

TEST(FairnessAdjusted, PrefersAHigherLossUntilItsTurnsHaveCostIt) {
  const auto selector = make_selector("heuristic.fairness_adjusted", {{"price", 0.5}});
  FakeFederation world(40);
  world.loss = [](const FakeFederation&, std::uint32_t id) { return id == 7 ? 3.1 : 1.1; };
  const std::vector<int> counts = turns(world.rounds(*selector, 4, 50), 40);
  // A loss higher by 2 at a price of 0.5 is worth 4 turns more.
  for (std::uint32_t id = 0; id < 40; ++id)
    EXPECT_NEAR(counts[7] - counts[id], id == 7 ? 0 : 4, 1) << id;
}

TEST(ClusterBalanced, HasASmallClusterInEveryCohort) {
  expect_property("heuristic.cluster_balanced", [](Selector& selector) {
    FakeFederation world(100);
    world.loss = [](const FakeFederation&, std::uint32_t id) { return id < 5 ? 9 : 1 + 0.01 * id; };
    world.everyone_takes_part();
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 30);
    return std::all_of(cohorts.begin(), cohorts.end(), [](const Cohort& cohort) {
      return std::any_of(cohort.begin(), cohort.end(), [](std::uint32_t id) { return id < 5; });
    });
  });
}

/// Ten groups of clients, each with the samples of one class.
FakeFederation one_class_each(std::uint32_t clients) {
  FakeFederation world(clients);
  world.loss = constant_loss;
  for (std::uint32_t id = 0; id < clients; ++id) {
    world.clients[id].samples = 100;
    world.clients[id].labels.assign(10, 0);
    world.clients[id].labels[id / (clients / 10)] = 100;
  }
  return world;
}

TEST(Mmr, ChoosesClientsWithUnlikeLabels) {
  expect_property("heuristic.mmr_diverse", [](Selector& selector) {
    FakeFederation world = one_class_each(100);
    const auto group = [](std::uint32_t id) { return id / 10; };
    return mean_groups(world.rounds(selector, 10, 30), group) > 8;
  });
}

TEST(Mmr, ChoosesByUsefulnessAloneWhereOnlyThatCounts) {
  const auto selector = make_selector("heuristic.mmr_diverse", {{"relevance", 1}});
  FakeFederation world = one_class_each(100);
  world.loss = loss_by_number;
  world.everyone_takes_part();
  for (Client& client : world.clients) {
    client.speed = 1;
    client.channel = 1;
  }
  std::vector<double> losses;
  for (const Client& client : world.clients)
    losses.push_back(*client.loss);
  EXPECT_EQ(as_set(world.choose(*selector, 10)), top(losses, 10));
}

TEST(LabelCoverage, HasEveryClassInTheCohort) {
  expect_property("heuristic.label_coverage", [](Selector& selector) {
    FakeFederation world = one_class_each(100);
    const auto group = [](std::uint32_t id) { return id / 10; };
    return mean_groups(world.rounds(selector, 10, 30), group) > 9;
  });
}

TEST(LabelCoverage, TakesARareClassAlong) {
  const Property has_rare_class = [](Selector& selector) {
    FakeFederation world = one_class_each(100);
    for (std::uint32_t id = 0; id < 100; ++id) {
      std::vector<std::uint32_t>& labels = world.clients[id].labels;
      labels.assign(10, 10);
      labels[9] = id < 20 ? 10 : 0;
    }
    const std::vector<Cohort> cohorts = world.rounds(selector, 10, 40);
    return mean_of(cohorts, [](std::uint32_t id) { return id < 20 ? 1 : 0; }) > 0.19 &&
           std::all_of(cohorts.begin(), cohorts.end(), [](const Cohort& cohort) {
             return std::any_of(cohort.begin(), cohort.end(),
                                [](std::uint32_t id) { return id < 20; });
           });
  };
  expect_property("heuristic.label_coverage", has_rare_class);
}

}  // namespace
}  // namespace ebb::fl
