// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy.h"

#include <cmath>

namespace ebb::fl {
namespace {

RenyiAccountant after(int rounds, double share, double noise) {
  RenyiAccountant accountant;
  accountant.add_round(share, noise);
  std::vector<double> divergences = accountant.divergences();
  for (double& divergence : divergences)
    divergence *= rounds;
  EXPECT_TRUE(accountant.restore(divergences));
  return accountant;
}

/// By the older bound of Mironov 2017, and the order at which it is least.
std::pair<double, std::size_t> classical(const RenyiAccountant& accountant, double delta) {
  std::pair<double, std::size_t> best = {HUGE_VAL, 0};
  for (std::size_t i = 0; i < accountant.divergences().size(); ++i) {
    const std::size_t order = i + 2;
    best = std::min(
        best,
        {accountant.divergences()[i] - std::log(delta) / static_cast<double>(order - 1), order});
  }
  return best;
}

TEST(Privacy, NothingIsSpentBeforeTheFirstRound) {
  EXPECT_EQ(RenyiAccountant().epsilon(1e-5), 0);
}

TEST(Privacy, IsAsTensorFlowPrivacyPublishedIt) {
  // Its tutorial on MNIST: 60,000 samples, batches of 256, noise 1.1, 60 epochs, which are 14,063
  // steps: eps = 3.01, by the bound of its time.
  EXPECT_NEAR(classical(after(14063, 256.0 / 60000, 1.1), 1e-5).first, 3.01, 0.005);
}

TEST(Privacy, IsAsOpacusPublishedIt) {
  // Its test of the Rényi accountant: 7.32911117143 with fractional orders, which are a little
  // better than ours.
  const double epsilon = after(2250, 0.04, 1.5).epsilon(1e-5);
  EXPECT_GE(epsilon, 7.32911117143);
  EXPECT_LT(epsilon, 7.332);
}

TEST(Privacy, AtOneOrderItIsAsOpacusPublishedIt) {
  // Its page on compute_dp_sgd_privacy: 2.39 at order 5 for shares of 1 %, noise 1.0, 300 steps.
  const double divergence = after(300, 0.01, 1).divergences()[5 - 2];
  EXPECT_NEAR(divergence + std::log(4.0 / 5) - (std::log(1e-5) + std::log(5)) / 4, 2.39, 0.005);
}

TEST(Privacy, WithoutSamplingItIsTheGaussianMechanism) {
  RenyiAccountant accountant;
  accountant.add_round(1, 2);
  for (std::size_t i = 0; i < accountant.divergences().size(); ++i)
    EXPECT_NEAR(accountant.divergences()[i], static_cast<double>(i + 2) / (2 * 4), 1e-12);
  // The sum over nearly everyone comes to the same.
  RenyiAccountant nearly;
  nearly.add_round(1 - 1e-12, 2);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_NEAR(nearly.divergences()[i], accountant.divergences()[i], 1e-9) << i;
}

TEST(Privacy, RoundsAddUp) {
  RenyiAccountant accountant;
  for (int round = 0; round < 5; ++round)
    accountant.add_round(0.1, 1.1);
  const RenyiAccountant at_once = after(5, 0.1, 1.1);
  EXPECT_NEAR(accountant.epsilon(1e-5), at_once.epsilon(1e-5), 1e-9);
}

TEST(Privacy, MoreNoiseSmallerSharesAndLargerDeltasSpendLess) {
  const double base = after(100, 0.1, 1).epsilon(1e-5);
  EXPECT_LT(after(100, 0.1, 2).epsilon(1e-5), base);
  EXPECT_LT(after(100, 0.01, 1).epsilon(1e-5), base);
  EXPECT_LT(after(100, 0.1, 1).epsilon(1e-3), base);
  EXPECT_LT(after(10, 0.1, 1).epsilon(1e-5), base);
}

TEST(Privacy, StaysFiniteWhereNoiseIsSmall) {
  RenyiAccountant accountant;
  accountant.add_round(0.5, 0.01);
  EXPECT_TRUE(std::isfinite(accountant.epsilon(1e-5)));
  EXPECT_GT(accountant.epsilon(1e-5), 1000);
}

TEST(Privacy, ACheckpointIsTakenOrRefused) {
  const RenyiAccountant spent = after(3, 0.1, 1);
  RenyiAccountant resumed;
  ASSERT_TRUE(resumed.restore(spent.divergences()));
  EXPECT_EQ(resumed.epsilon(1e-5), spent.epsilon(1e-5));
  EXPECT_FALSE(resumed.restore(std::vector<double>{1, 2}));
  std::vector<double> damaged = spent.divergences();
  damaged[7] = -1;
  EXPECT_FALSE(resumed.restore(damaged));
  damaged[7] = std::nan("");
  EXPECT_FALSE(resumed.restore(damaged));
  EXPECT_EQ(resumed.divergences(), spent.divergences());
}

TEST(Privacy, UpdatesAreCutToTheirNorm) {
  EXPECT_DOUBLE_EQ(clip_factor(30, 15), 0.5);
  EXPECT_DOUBLE_EQ(clip_factor(30, 30), 1);
  EXPECT_DOUBLE_EQ(clip_factor(30, 100), 1);
  EXPECT_DOUBLE_EQ(clip_factor(0, 1), 1);
}

TEST(Privacy, OptionsOutOfTheirRangeAreRefused) {
  EXPECT_TRUE(check(PrivacyOptions{}));
  EXPECT_TRUE(check(PrivacyOptions{1, 1, 1e-5}));
  EXPECT_FALSE(check(PrivacyOptions{-1, 0, 1e-5}));
  EXPECT_FALSE(check(PrivacyOptions{1, -1, 1e-5}));
  EXPECT_FALSE(check(PrivacyOptions{1, 1, 0}));
  EXPECT_FALSE(check(PrivacyOptions{1, 1, 1}));
  EXPECT_EQ(check(PrivacyOptions{0, 1, 1e-5}).error().message,
            "dp_noise 1 without dp_clip, expected a norm to cut updates to");
}

}  // namespace
}  // namespace ebb::fl
