// SPDX-License-Identifier: Apache-2.0
#include "fl/renyi_accountant.h"

#include <cmath>

namespace ebb::fl {
namespace {

struct Known {
  double share;
  double noise;
  std::uint32_t rounds;
  double delta;
  double epsilon;
};

double epsilon_of(const Known& known, Sampling sampling) {
  return RenyiAccountant(sampling, known.share, known.noise).epsilon(known.rounds, known.delta);
}

double poisson(std::uint32_t rounds, double share, double noise, double delta = 1e-5) {
  return epsilon_of({share, noise, rounds, delta, 0}, Sampling::poisson);
}

/// By the older bound of Mironov 2017.
double classical(const RenyiAccountant& accountant, std::uint32_t rounds, double delta) {
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < accountant.divergences().size(); ++i)
    best = std::min(
        best, rounds * accountant.divergences()[i] - std::log(delta) / static_cast<double>(i + 1));
  return best;
}

TEST(RenyiAccountant, SpendsNothingBeforeTheFirstRound) {
  EXPECT_EQ(poisson(0, 0.1, 1), 0);
}

TEST(RenyiAccountant, OfPoissonSamplingIsAsGooglesHasIt) {
  // dp-accounting 0.6.0, in Python, for q, z, n, delta of each row:
  //   a = rdp.RdpAccountant(range(2, 257))
  //   a.compose(PoissonSampledDpEvent(q, GaussianDpEvent(z)), n); a.get_epsilon(delta)
  for (const Known& known : std::vector<Known>{
           {0.01, 1.1, 1000, 1e-05, 1.725290818},
           {0.01, 0.8, 300, 1e-06, 3.270128175},
           {256.0 / 60000, 1.1, 14063, 1e-05, 2.59707952},
           {0.04, 1.5, 2250, 1e-05, 7.329876774},
           {0.1, 1.0, 1, 1e-05, 2.133005995},
           {0.1, 1.0, 10, 1e-05, 3.55150267},
           {0.1, 2.0, 100, 0.001, 1.799794707},
           {0.5, 4.0, 100, 0.0001, 5.623764292},
           {1, 5.0, 50, 1e-05, 7.087861629},
           {0.001, 0.6, 5000, 1e-07, 4.82998337},
           {0.05, 1.0, 1500, 0.0001, 14.25380257},
           {0.02, 10.0, 20000, 1e-06, 1.311212618},
       })
    EXPECT_NEAR(epsilon_of(known, Sampling::poisson), known.epsilon, 1e-8 * known.epsilon)
        << known.share << ' ' << known.noise;
}

TEST(RenyiAccountant, OfFixedCohortsIsAsGooglesHasIt) {
  // The same with RdpAccountant(range(2, 257), NeighboringRelation.REPLACE_ONE) and
  // SampledWithoutReplacementDpEvent(N, m, GaussianDpEvent(z / 2)), for a share of m / N. Where
  // rounding leaves differences unknown, ours are a little more.
  for (const Known& known : std::vector<Known>{
           {10.0 / 100, 8.0, 1, 0.001, 0.08787857306},
           {50.0 / 1000, 16.0, 1500, 0.0001, 1.847226456},
           {100.0 / 10000, 8.0, 1000, 1e-05, 0.6389706999},
           {1000.0 / 100000, 4.0, 1000, 1e-06, 1.629192246},
           {10.0 / 1000, 4.0, 100, 1e-05, 0.4347311833},
           {50.0 / 50, 10.0, 20, 0.0001, 3.677082064},
       }) {
    const double epsilon = epsilon_of(known, Sampling::fixed);
    EXPECT_GE(epsilon, known.epsilon * (1 - 1e-8)) << known.share << ' ' << known.noise;
    EXPECT_LE(epsilon, known.epsilon * 1.02) << known.share << ' ' << known.noise;
  }
}

TEST(RenyiAccountant, OfFixedCohortsIsNeverWorseThanWithoutSampling) {
  for (const double share : {0.01, 0.5, 0.9, 1.0}) {
    const RenyiAccountant fixed(Sampling::fixed, share, 1);
    for (std::size_t i = 0; i < fixed.divergences().size(); ++i)
      EXPECT_LE(fixed.divergences()[i], static_cast<double>(i + 2) / (2 * 0.25)) << share;
  }
}

TEST(RenyiAccountant, IsAsTensorFlowPrivacyPublishedIt) {
  // Its tutorial on MNIST: 60,000 samples, batches of 256, noise 1.1, 60 epochs, which are 14,063
  // steps: eps = 3.01, by the bound of its time.
  const RenyiAccountant accountant(Sampling::poisson, 256.0 / 60000, 1.1);
  EXPECT_NEAR(classical(accountant, 14063, 1e-5), 3.01, 0.005);
}

TEST(RenyiAccountant, IsAsOpacusPublishedIt) {
  // Its test of the Rényi accountant: 7.32911117143 with fractional orders, which are a little
  // better than ours.
  const double epsilon = poisson(2250, 0.04, 1.5);
  EXPECT_GE(epsilon, 7.32911117143);
  EXPECT_LT(epsilon, 7.332);
}

TEST(RenyiAccountant, AtOneOrderItIsAsOpacusPublishedIt) {
  // Its page on compute_dp_sgd_privacy: 2.39 at order 5 for shares of 1 %, noise 1.0, 300 steps.
  const double divergence = 300 * RenyiAccountant(Sampling::poisson, 0.01, 1).divergences()[5 - 2];
  EXPECT_NEAR(divergence + std::log(4.0 / 5) - (std::log(1e-5) + std::log(5)) / 4, 2.39, 0.005);
}

TEST(RenyiAccountant, WithoutSamplingItIsTheGaussianMechanism) {
  const RenyiAccountant whole(Sampling::poisson, 1, 2);
  // The sum over nearly everyone comes to the same.
  const RenyiAccountant nearly(Sampling::poisson, 1 - 1e-12, 2);
  for (std::size_t i = 0; i < whole.divergences().size(); ++i)
    EXPECT_NEAR(whole.divergences()[i], static_cast<double>(i + 2) / (2 * 4), 1e-12);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_NEAR(nearly.divergences()[i], whole.divergences()[i], 1e-9) << i;
}

TEST(RenyiAccountant, MoreNoiseSmallerSharesAndLargerDeltasSpendLess) {
  for (const Sampling sampling : {Sampling::poisson, Sampling::fixed}) {
    const double base = epsilon_of({0.1, 4, 100, 1e-5, 0}, sampling);
    EXPECT_LT(epsilon_of({0.1, 8, 100, 1e-5, 0}, sampling), base);
    EXPECT_LT(epsilon_of({0.01, 4, 100, 1e-5, 0}, sampling), base);
    EXPECT_LT(epsilon_of({0.1, 4, 100, 1e-3, 0}, sampling), base);
    EXPECT_LT(epsilon_of({0.1, 4, 10, 1e-5, 0}, sampling), base);
  }
}

TEST(RenyiAccountant, StaysFiniteWhereNoiseIsSmall) {
  for (const Sampling sampling : {Sampling::poisson, Sampling::fixed}) {
    const double epsilon = epsilon_of({0.5, 0.01, 1, 1e-5, 0}, sampling);
    EXPECT_TRUE(std::isfinite(epsilon));
    EXPECT_GT(epsilon, 1000);
  }
}

}  // namespace
}  // namespace ebb::fl
