// SPDX-License-Identifier: Apache-2.0
#include "fl/random.h"

#include <cmath>
#include <numeric>
#include <set>

namespace ebb::fl {
namespace {

TEST(RandomNumbers, AreDecidedBySeedPurposeRoundAndClient) {
  const auto first_of = [](std::uint64_t seed, Purpose purpose, std::uint32_t round,
                           std::uint32_t client) {
    return Random(seed, purpose, round, client).bits64();
  };
  const std::uint64_t one = first_of(1, Purpose::world, 2, 3);
  EXPECT_EQ(one, first_of(1, Purpose::world, 2, 3));
  EXPECT_NE(one, first_of(2, Purpose::world, 2, 3));
  EXPECT_NE(one, first_of(1, Purpose::channel, 2, 3));
  EXPECT_NE(one, first_of(1, Purpose::world, 3, 3));
  EXPECT_NE(one, first_of(1, Purpose::world, 2, 4));
}

TEST(RandomNumbers, AreTheSameOnEveryMachine) {
  Random random(42, Purpose::selection, 7, 9);
  const std::vector<std::uint32_t> drawn = {random.bits(), random.bits(), random.bits(),
                                            random.bits(), random.bits()};
  // From another implementation, which gives the known answers of Random123's Philox 4x32-10.
  EXPECT_EQ(drawn, (std::vector<std::uint32_t>{0x709cad16, 0x2bccf17a, 0x02be0a7b, 0x95602530,
                                               0x1e746a06}));
}

TEST(RandomNumbers, BelowABoundAreEquallyLikely) {
  Random random(1, Purpose::selection);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i)
    ++counts[random.below(7)];
  // Six degrees of freedom: 22.5 is passed once in a thousand.
  double chi = 0;
  for (const int count : counts)
    chi += (count - 10000) * (count - 10000) / 10000.0;
  EXPECT_LT(chi, 22.5);
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
Moments moments_of(Draw draw, int count = 200000) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(RandomNumbers, HaveTheMomentsOfTheirDistribution) {
  Random random(3, Purpose::world);
  const Moments uniform = moments_of([&] { return random.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, 0.005);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.002);
  const Moments normal = moments_of([&] { return random.normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.variance, 1, 0.02);
  for (const double shape : {0.3, 1.0, 4.5}) {
    const Moments gamma = moments_of([&] { return random.gamma(shape); });
    EXPECT_NEAR(gamma.mean, shape, 0.03 * std::max(shape, 1.0)) << shape;
    EXPECT_NEAR(gamma.variance, shape, 0.06 * std::max(shape, 1.0)) << shape;
  }
}

TEST(RandomNumbers, OfDirichletAddUpToOneAndConcentrateWithSmallAlpha) {
  Random random(4, Purpose::partition);
  for (const double alpha : {1e-8, 0.1, 0.5, 100.0}) {
    const std::vector<double> shares = random.dirichlet(alpha, 10);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9) << alpha;
  }
  const auto largest = [&](double alpha) {
    double sum = 0;
    for (int i = 0; i < 200; ++i) {
      const std::vector<double> shares = random.dirichlet(alpha, 10);
      sum += *std::max_element(shares.begin(), shares.end());
    }
    return sum / 200;
  };
  EXPECT_GT(largest(0.1), 0.5);
  EXPECT_LT(largest(100), 0.2);
}

TEST(RandomNumbers, WeightedDrawsFollowTheirWeights) {
  Random random(5, Purpose::selection);
  const std::vector<double> weights = {0, 1, 3, 0};
  std::vector<int> counts(4);
  for (int i = 0; i < 40000; ++i)
    ++counts[random.weighted(weights)];
  EXPECT_EQ(counts[0] + counts[3], 0);
  EXPECT_NEAR(counts[2] / 40000.0, 0.75, 0.015);
}

TEST(RandomNumbers, SmallSamplesOfManyAreThoseOfAListThatIsShuffled) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const std::uint32_t bound : {17U, 100U, 2000U}) {
      for (const std::uint32_t count : {0U, 1U, bound / 17, bound / 16, bound / 15, bound}) {
        Random shuffling(seed, Purpose::selection, bound, count);
        std::vector<std::uint32_t> all(bound);
        std::iota(all.begin(), all.end(), 0U);
        for (std::uint32_t i = 0; i < count; ++i)
          std::swap(all[i], all[i + shuffling.below(bound - i)]);
        all.resize(count);
        Random random(seed, Purpose::selection, bound, count);
        EXPECT_EQ(random.sample(bound, count), all) << count << " of " << bound;
        EXPECT_EQ(random.bits64(), shuffling.bits64());
      }
    }
  }
}

TEST(RandomNumbers, SamplesAreDistinctAndReachEveryone) {
  Random random(6, Purpose::selection);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200; ++i) {
    const std::vector<std::uint32_t> sample = random.sample(20, 5);
    EXPECT_EQ(std::set<std::uint32_t>(sample.begin(), sample.end()).size(), 5U);
    seen.insert(sample.begin(), sample.end());
  }
  EXPECT_EQ(seen.size(), 20U);
}

}  // namespace
}  // namespace ebb::fl
