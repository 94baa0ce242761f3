// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/aggregator.h"

#include <cmath>
#include <limits>

#include "fl/aggregate/sketch.h"
#include "fl/privacy.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

/// One parameter, and what the updates move it by.
class Server {
 public:
  explicit Server(const Aggregation& options, std::uint32_t staleness = 0) {
    auto created = create_aggregator(options, {1, 8, 10000, staleness, ""});
    EXPECT_TRUE(created) << created.error().message;
    aggregator_ = std::move(*created);
  }

  void add(float move, double weight = 1, std::uint32_t late = 0, double factor = 1) {
    const std::vector<float> to = {weights_[0] + move};
    EXPECT_TRUE(aggregator_->add({place_++, weight, factor, late}, weights_, to));
  }
  float finish(const Aggregator::Noise& noise = {}) {
    place_ = 0;
    EXPECT_TRUE(aggregator_->finish_round(weights_, *ranks_, noise));
    return weights_[0];
  }
  Aggregator& aggregator() { return *aggregator_; }

 private:
  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<Ranks> ranks_ = alone();
  std::vector<float> weights_ = {1.0F};
  std::uint32_t place_ = 0;
};

Aggregation rule(Rule which) {
  Aggregation options;
  options.rule = which;
  return options;
}

TEST(FedAvg, MovesByTheMeanWeightedBySamples) {
  Server server(rule(Rule::fedavg));
  server.add(1.0F, 100);
  server.add(-1.0F, 300);
  EXPECT_NEAR(server.finish(), 1 - 0.5F, 1e-6F);
  EXPECT_NEAR(server.finish(), 0.5F, 1e-6F) << "nothing arrived: the model stays";
}

TEST(FedAvg, UnderPrivacyNoClientMovesTheSumFurtherThanTheNorm) {
  constexpr std::size_t kParameters = 1000;
  const double clip = 0.75;
  const auto aggregator = *create_aggregator({}, {kParameters, 8, 10000, 0, ""});
  const auto ranks = alone();
  Random random(3, Purpose::synthetic_data);
  for (const double size : {1e-3, 0.02, 1.0, 50.0}) {
    std::vector<float> weights(kParameters);
    std::vector<float> moved(kParameters);
    for (float& value : moved)
      value = static_cast<float>(size * random.normal());
    const double factor = clip_factor(distance(weights, moved), clip);
    ASSERT_TRUE(aggregator->add({0, 1, factor, 0}, weights, moved));
    ASSERT_TRUE(aggregator->finish_round(weights, *ranks, {.denominator = 1}));
    const double norm = distance(std::vector<float>(kParameters), weights);
    EXPECT_LE(norm, clip * (1 + 1e-6)) << size;
    EXPECT_NEAR(norm, std::min(clip, distance(std::vector<float>(kParameters), moved)), 1e-6);
  }
}

TEST(FedAvg, UnderPrivacyHasNoiseOfItsDeviationThatSeedAndRoundDecide) {
  constexpr std::size_t kParameters = 40000;
  const auto aggregator = *create_aggregator({}, {kParameters, 8, 10000, 0, ""});
  const auto ranks = alone();
  const auto noise_of = [&](std::uint64_t seed, std::uint32_t round) {
    std::vector<float> weights(kParameters);
    const Aggregator::Noise noise = {
        .deviation = 3, .seed = seed, .round = round, .denominator = 4};
    EXPECT_TRUE(aggregator->finish_round(weights, *ranks, noise));
    return weights;
  };
  const std::vector<float> one = noise_of(5, 2);
  double sum = 0;
  double squares = 0;
  for (const float value : one) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double deviation = 3.0 / 4;
  EXPECT_NEAR(sum / kParameters, 0, 4 * deviation / std::sqrt(kParameters));
  EXPECT_NEAR(squares / kParameters, deviation * deviation, 0.03 * deviation * deviation);
  EXPECT_EQ(noise_of(5, 2), one);
  EXPECT_NE(noise_of(5, 3), one);
  EXPECT_NE(noise_of(6, 2), one);
}

TEST(FedAvgM, GoesOnInTheDirectionOfEarlierRounds) {
  Server server(rule(Rule::fedavgm));
  server.add(1.0F);
  EXPECT_NEAR(server.finish(), 2.0F, 1e-6F);
  server.add(0.0F);
  EXPECT_NEAR(server.finish(), 2.9F, 1e-6F);
}

TEST(FedAdam, TakesStepsOfTheLearningRateWhateverTheSizeOfUpdates) {
  for (const float size : {0.1F, 10.0F}) {
    Aggregation options = rule(Rule::fedadam);
    options.server_lr = 0.01;
    options.tau = 1e-6;
    Server server(options);
    float last = 1;
    for (int round = 0; round < 300; ++round) {
      server.add(size);
      const float now = server.finish();
      if (round > 250) {
        EXPECT_NEAR(now - last, 0.01F, 0.001F) << size;
      }
      last = now;
    }
  }
}

TEST(FedYogi, ForgetsALargeUpdateMoreSlowlyThanFedAdam) {
  const auto after_a_shock = [](Rule which) {
    Aggregation options = rule(which);
    options.server_lr = 0.01;
    Server server(options);
    server.add(10.0F);
    float before = server.finish();
    float moved = 0;
    for (int round = 0; round < 400; ++round) {
      server.add(0.01F);
      const float now = server.finish();
      moved = now - before;
      before = now;
    }
    return moved;
  };
  EXPECT_LT(after_a_shock(Rule::fedyogi), 0.5F * after_a_shock(Rule::fedadam));
}

TEST(Median, IsNotMovedByOneWildUpdate) {
  Server server(rule(Rule::median));
  for (const float move : {0.1F, 0.2F, 0.3F, 1000.0F})
    server.add(move);
  EXPECT_NEAR(server.finish(), 1.25F, 1e-6F);
  server.add(0.5F);
  EXPECT_NEAR(server.finish(), 1.75F, 1e-6F) << "the updates of the last round are gone";
}

TEST(TrimmedMean, DropsTheShareAtEitherEnd) {
  Aggregation options = rule(Rule::trimmed_mean);
  options.trim = 0.25;
  Server server(options);
  for (const float move : {-1000.0F, 0.1F, 0.3F, 1000.0F})
    server.add(move);
  EXPECT_NEAR(server.finish(), 1.2F, 1e-6F);
}

TEST(TrimmedMean, KeepsTheMiddleOneWhereNothingElseIsLeft) {
  Aggregation options = rule(Rule::trimmed_mean);
  options.trim = 0.49;
  Server server(options);
  for (const float move : {-5.0F, 0.5F, 5.0F})
    server.add(move);
  EXPECT_NEAR(server.finish(), 1.5F, 1e-6F);
}

TEST(RobustRules, SpanSeveralBlocksOfParameters) {
  constexpr std::size_t kSize = 10000;
  auto created = create_aggregator(rule(Rule::median), {kSize, 3, 100, 0, ""});
  ASSERT_TRUE(created);
  std::vector<float> weights(kSize, 0.0F);
  for (std::uint32_t place = 0; place < 3; ++place) {
    std::vector<float> to(kSize);
    for (std::size_t i = 0; i < kSize; ++i)
      to[i] = static_cast<float>(i) + static_cast<float>(place);
    ASSERT_TRUE((*created)->add({place, 1, 1, 0}, weights, to));
  }
  ASSERT_TRUE((*created)->finish_round(weights, *alone(), {}));
  for (std::size_t i = 0; i < kSize; ++i)
    ASSERT_EQ(weights[i], static_cast<float>(i) + 1) << i;
}

TEST(LateUpdates, ArriveInTheirRoundWithLessWeight) {
  Server server(rule(Rule::fedavg), 2);
  server.add(1.0F, 10);
  server.add(4.0F, 10, 2);
  EXPECT_NEAR(server.finish(), 2.0F, 1e-6F);
  EXPECT_NEAR(server.finish(), 2.0F, 1e-6F);
  server.add(0.0F, 10);
  // 10/3 of weight from two rounds ago, against 10 of this one.
  EXPECT_NEAR(server.finish(), 2.0F + 4.0F * 0.25F, 1e-5F);
}

TEST(LateUpdates, SurviveACheckpoint) {
  Server first(rule(Rule::fedavg), 1);
  first.add(4.0F, 10, 1);
  first.finish();
  Server second(rule(Rule::fedavg), 1);
  const AggregatorState from = first.aggregator().state();
  const AggregatorState to = second.aggregator().state();
  ASSERT_EQ(from.parts.size(), to.parts.size());
  for (std::size_t i = 0; i < from.parts.size(); ++i)
    std::copy(from.parts[i].begin(), from.parts[i].end(), to.parts[i].begin());
  EXPECT_EQ(first.finish(), second.finish());
}

TEST(PrivacyNoise, IsOfTheGivenSizeAndOfTheRoundAlone) {
  double squares = 0;
  for (std::uint32_t round = 0; round < 500; ++round) {
    Server one(rule(Rule::fedavg));
    Server other(rule(Rule::fedavg));
    const Aggregator::Noise noise{2.0, 7, round, 4.0};
    const float moved = one.finish(noise);
    EXPECT_EQ(moved, other.finish(noise));
    squares += std::pow(static_cast<double>(moved) - 1, 2);
  }
  EXPECT_NEAR(std::sqrt(squares / 500), 0.5, 0.06);
}

TEST(Aggregators, RefuseWhatIsNoNumber) {
  for (const Rule which : {Rule::fedavg, Rule::median}) {
    auto created = create_aggregator(rule(which), {1, 2, 100, 0, ""});
    ASSERT_TRUE(created);
    const std::vector<float> from = {0};
    const std::vector<float> to = {std::numeric_limits<float>::quiet_NaN()};
    EXPECT_FALSE((*created)->add({0, 1, 1, 0}, from, to));
  }
}

TEST(RobustRules, NeedAPlaceForTheirFile) {
  const auto created = create_aggregator(rule(Rule::median), {1, 2, 100, 0, "/does/not/exist"});
  ASSERT_FALSE(created);
  EXPECT_NE(created.error().message.find("/does/not/exist"), std::string::npos);
}

TEST(Aggregators, NeedMemoryThatDoesNotGrowWithTheCohort) {
  const auto need = [](Rule which, std::uint32_t cohort) {
    return need_of(rule(which), {1000000, cohort, 100, 0, ""});
  };
  EXPECT_EQ(need(Rule::fedavg, 2).accumulators, need(Rule::fedavg, 64).accumulators);
  EXPECT_EQ(need(Rule::fedadam, 2).server_state, 8000000U);
  EXPECT_LT(need(Rule::median, 64).accumulators, 3000000U);
  EXPECT_EQ(need(Rule::median, 64).spill, 64U * 4000000U);
}

}  // namespace
}  // namespace ebb::fl
