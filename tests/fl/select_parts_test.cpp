// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include "fl/select/algebra.h"
#include "fl/select/loss_process.h"
#include "fl/select/perceptron.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

TEST(Ranking, PutsTheHighestFirstAndEqualOnesInRandomOrder) {
  std::set<Ids> orders;
  for (std::uint32_t round = 0; round < 50; ++round) {
    Random random(1, Purpose::selection, round);
    orders.insert(ranked(std::vector<double>{1, 5, 1, 7}, random));
  }
  EXPECT_EQ(orders, (std::set<Ids>{{3, 1, 0, 2}, {3, 1, 2, 0}}));
}

TEST(Ranking, OfSomeIsTheBeginningOfTheRankingOfAll) {
  for (std::uint32_t round = 0; round < 50; ++round) {
    Random drawing(2, Purpose::selection, round);
    std::vector<double> scores;
    for (int i = 0; i < 60; ++i)
      scores.push_back(static_cast<double>(drawing.below(7)));
    scores[17] = std::nan("");
    Random one(1, Purpose::selection, round);
    const Ids all = ranked(scores, one);
    EXPECT_EQ(all.size(), 60U);
    for (const std::size_t count : {0U, 1U, 5U, 59U, 60U, 70U}) {
      Random other(1, Purpose::selection, round);
      EXPECT_EQ(ranked(scores, other, count), first(all, count)) << count;
    }
  }
}

TEST(Ranking, PutsTheUnseenBeforeTheHighestAndTheSilentLast) {
  std::vector<Client> clients(4);
  clients[3].unanswered = 60;
  Random random(1, Purpose::selection);
  const Choice::Probe probe;
  const std::vector<std::optional<double>> scores = {3, std::nullopt, 1e300, std::nullopt};
  EXPECT_EQ(best_first({0, 1, clients, {}, random, probe}, scores), (Ids{1, 2, 0, 3}));
}

TEST(SilentOnes, AreTriedAgainHalfAsOftenEachTime) {
  std::vector<Client> clients(4);
  for (std::uint32_t id = 0; id < 4; ++id)
    clients[id].unanswered = id;
  std::vector<int> tried(4);
  const Choice::Probe probe;
  for (std::uint32_t round = 0; round < 8000; ++round) {
    Random random(1, Purpose::selection, round);
    const std::vector<bool> silent = silent_ones({round, 1, clients, {}, random, probe});
    for (std::size_t id = 0; id < 4; ++id)
      tried[id] += !silent[id];
  }
  EXPECT_EQ(tried[0], 8000);
  for (std::size_t id = 1; id < 4; ++id)
    EXPECT_NEAR(tried[id], 8000 / (1 << id), 200) << id;
}

TEST(Ranking, PutsWhatIsNotANumberLast) {
  Random random(1, Purpose::selection);
  EXPECT_EQ(ranked(std::vector<double>{std::nan(""), -1e300, 2}, random), (Ids{2, 1, 0}));
}

TEST(Draws, FollowTheWeightsAndTakeTheWeightlessLast) {
  Random random(2, Purpose::selection);
  int heavy = 0;
  for (int i = 0; i < 4000; ++i) {
    const Ids ids = drawn(std::vector<double>{1, 0, 3}, 3, random);
    heavy += ids[0] == 2;
    EXPECT_EQ(ids[2], 1U);
  }
  EXPECT_NEAR(heavy, 3000, 100);
}

TEST(Normalised, RunsFromZeroToOneAndTheUnseenGetOne) {
  std::vector<double> values = {4, 2, 3};
  normalise(values);
  EXPECT_EQ(values, (std::vector<double>{1, 0, 0.5}));
  std::vector<double> equal = {7, 7};
  normalise(equal);
  EXPECT_EQ(equal, (std::vector<double>{0, 0}));

  std::vector<Client> clients(3);
  clients[0].loss = 5;
  clients[2].loss = 1;
  EXPECT_EQ(hopeful(clients, &Client::loss), (std::vector<double>{1, 1, 0}));
}

TEST(Quantiles, AreValuesThatOccur) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.2), 1);
  EXPECT_EQ(quantile(values, 0.21), 2);
  EXPECT_EQ(quantile(values, 1), 5);
}

TEST(KMeans, FindsSeparateClusters) {
  Random random(3, Purpose::selection);
  std::vector<double> points;
  for (int i = 0; i < 60; ++i)
    points.insert(points.end(), {10.0 * (i % 3) + random.normal(), random.normal()});
  const std::vector<std::uint32_t> cluster = k_means(points, 2, 3, random);
  for (std::size_t i = 3; i < 60; ++i)
    EXPECT_EQ(cluster[i], cluster[i % 3]);
  EXPECT_EQ(std::set<std::uint32_t>(cluster.begin(), cluster.end()).size(), 3U);
}

TEST(KMeans, TakesMoreClustersThanPoints) {
  Random random(3, Purpose::selection);
  EXPECT_EQ(k_means(std::vector<double>{1, 1, 1}, 1, 5, random),
            (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_TRUE(k_means({}, 1, 5, random).empty());
}

TEST(LinearModel, FindsTheWeightsAndIsSureWhereItHasSeenMuch) {
  Random random(4, Purpose::selection);
  LinearModel model(2, 0.001);
  for (int i = 0; i < 100; ++i) {
    const double x = random.normal();
    model.add(std::vector<double>{1, x}, 2 - 3 * x);
  }
  ASSERT_TRUE(model.fit());
  EXPECT_NEAR(model.predict(std::vector<double>{1, 2}).mean, -4, 1e-3);
  EXPECT_LT(model.predict(std::vector<double>{1, 0}).deviation, 0.11);
  EXPECT_GT(model.predict(std::vector<double>{1, 50}).deviation, 3);
}

TEST(LinearModel, RefusesAPrecisionThatIsNone) {
  EXPECT_FALSE(LinearModel({1, 2, 2, 1}, {0, 0}).fit());
  EXPECT_FALSE(LinearModel({std::nan(""), 0, 0, 1}, {0, 0}).fit());
}

TEST(Perceptron, LearnsACurve) {
  Random random(5, Purpose::selection);
  Perceptron network(random);
  std::vector<Context> contexts;
  std::vector<double> targets;
  for (int i = 0; i < 200; ++i) {
    const double x = random.uniform(-1, 1);
    contexts.push_back({1, x});
    targets.push_back(std::cos(3 * x));
  }
  network.train(contexts, targets, 200, random);
  double squares = 0;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const Perceptron::Features features = network.features(contexts[i]);
    const std::span<const double> head = std::span(network.weights()).last(features.size());
    squares += std::pow(dot(features, head) - targets[i], 2);
  }
  EXPECT_LT(squares / 200, 0.01);
}

TEST(LossProcess, ForgetsWhatAKnownClientExplains) {
  // Clients 0 and 1 move together, 2 on its own.
  std::vector<Client> clients(3);
  for (Client& client : clients)
    client.samples = 1;
  LossProcess process({{1, 1, 0}, {-1, -1, 0}, {0, 0, 1}, {0, 0, -1}}, clients);
  const double before = process.benefit(2);
  EXPECT_GT(process.benefit(0), 1.9 * before);
  process.condition_on(0);
  EXPECT_LT(process.benefit(1), 0.2 * before);
  EXPECT_NEAR(process.benefit(2), before, 1e-12);
}

TEST(SavedNumbers, SurviveTextToTheLastBit) {
  Random random(6, Purpose::selection);
  std::vector<double> numbers = {0,      1,      1.0 / 3, 1e22,   1e30,
                                 0x1p63, 0x1p64, -0x1p70, 1e-300, 5e-324};
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(random.normal() * std::exp2(static_cast<double>(random.below(250)) - 200));
  const std::string text = base::Json::object({{"numbers", to_json(numbers)}}).text();
  const base::Json json = *base::parse_json(text);
  StateReader reader(json, "a test");
  EXPECT_EQ(reader.numbers("numbers"), numbers);
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(SavedNumbers, AreRefusedWithTheMethodAndTheMember) {
  const auto trouble = [](const base::Json& json) {
    StateReader reader(json, "some.method");
    reader.wholes("list");
    const auto status = reader.finish();
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(trouble(base::Json::object({{"list", base::Json::array({1, 2})}})), "");
  EXPECT_EQ(trouble(base::Json::object()), "saved state of some.method: list is missing");
  EXPECT_EQ(trouble(base::Json::object({{"list", 3}})),
            "saved state of some.method: list is not a list");
  EXPECT_EQ(trouble(base::Json::object({{"list", base::Json::array({1e31})}})),
            "saved state of some.method: list holds something that is not a number in its range");
  for (const base::Json& item : {base::Json(-1), base::Json(1.5), base::Json(0x1p32)})
    EXPECT_EQ(trouble(base::Json::object({{"list", base::Json::array({item})}})),
              "saved state of some.method: list holds something that is not a whole number");
}

}  // namespace
}  // namespace ebb::fl::select
