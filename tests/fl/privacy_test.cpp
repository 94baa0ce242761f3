// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy.h"

#include <cmath>

#include "fl/privacy_spent.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

PrivacyOptions adaptive(double noise, double quantile) {
  PrivacyOptions options;
  options.clip = 0.1;
  options.noise = noise;
  options.target_quantile = quantile;
  return options;
}

TEST(Privacy, UpdatesAreCutToTheirNorm) {
  EXPECT_DOUBLE_EQ(clip_factor(30, 15), 0.5);
  EXPECT_DOUBLE_EQ(clip_factor(30, 30), 1);
  EXPECT_DOUBLE_EQ(clip_factor(30, 100), 1);
  EXPECT_DOUBLE_EQ(clip_factor(0, 1), 1);
}

TEST(Privacy, TheNormGoesToTheQuantileOfTheUpdates) {
  // Lognormal norms with median 2; their quantile at 0.84 is 2 e.
  for (const auto& [quantile, norm] : {std::pair(0.5, 2.0), std::pair(0.8413, 2 * std::exp(1.0))}) {
    const PrivacyOptions options = adaptive(1, quantile);
    Random random(7, Purpose::synthetic_data);
    double clip = options.clip;
    double log_of_later = 0;
    for (int round = 0; round < 400; ++round) {
      std::uint64_t within = 0;
      for (int client = 0; client < 100; ++client)
        within += random.lognormal(std::log(2.0), 1) <= clip ? 1 : 0;
      const double noise = count_noise_of(options, 100) * random.normal();
      clip = next_clip(options, clip, published_share(within, 100, 100, noise));
      if (round >= 200) log_of_later += std::log(clip) / 200;
    }
    EXPECT_NEAR(std::exp(log_of_later), norm, 0.05 * norm) << quantile;
  }
}

TEST(Privacy, WhoIsMissingMovesTheShareNeitherWay) {
  EXPECT_DOUBLE_EQ(published_share(30, 100, 100, 0), 0.3);
  EXPECT_DOUBLE_EQ(published_share(0, 0, 100, 0), 0.5);
  // One client more or less moves the count by a half, whether it is within or not.
  const double before = published_share(30, 60, 100, 0);
  EXPECT_NEAR(published_share(31, 61, 100, 0) - before, 0.005, 1e-12);
  EXPECT_NEAR(published_share(30, 61, 100, 0) - before, -0.005, 1e-12);
}

TEST(Privacy, TheNormStaysANumber) {
  const PrivacyOptions options = adaptive(1, 0.5);
  EXPECT_GT(next_clip(options, 1e-12, 1e9), 0);
  EXPECT_LE(next_clip(options, 1e12, -1e9), 1e12);
}

TEST(Privacy, SumAndCountTogetherSpendWhatTheSumAloneDoes) {
  PrivacyOptions options = adaptive(1.5, 0.5);
  EXPECT_EQ(count_noise_of(options, 100), 5);
  EXPECT_EQ(count_noise_of(options, 10), 1.5) << "a twentieth would spend more than the sum";
  for (const std::uint32_t per_round : {10U, 100U}) {
    // Gaussian mechanisms compose by the squares of sensitivity by deviation: 1 of the sum, a half
    // of the count.
    const double of_sum = 1 / sum_noise_of(options, per_round);
    const double of_count = 0.5 / count_noise_of(options, per_round);
    EXPECT_NEAR(of_sum * of_sum + of_count * of_count, 1 / (1.5 * 1.5), 1e-12);
  }
  options.target_quantile.reset();
  EXPECT_EQ(sum_noise_of(options, 100), 1.5);
}

TEST(Privacy, OptionsOutOfTheirRangeAreRefused) {
  const auto checked = [](double clip, double noise, double delta) {
    return check(PrivacyOptions{clip, noise, delta}, 10);
  };
  EXPECT_TRUE(check(PrivacyOptions{}, 10));
  EXPECT_TRUE(checked(1, 1, 1e-5));
  EXPECT_FALSE(checked(-1, 0, 1e-5));
  EXPECT_FALSE(checked(1, -1, 1e-5));
  EXPECT_FALSE(checked(1, 1, 0));
  EXPECT_FALSE(checked(1, 1, 1));
  EXPECT_EQ(checked(0, 1, 1e-5).error().message,
            "dp_noise 1 without dp_clip, expected a norm to cut updates to");
}

TEST(Privacy, OptionsOfTheNormThatFollowsAreRefused) {
  const auto message = [](auto&& change) {
    PrivacyOptions options = adaptive(1, 0.5);
    EXPECT_TRUE(check(options, 10));
    change(options);
    const auto checked = check(options, 10);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message([](PrivacyOptions& o) { o.target_quantile = 1; }),
            "dp_target_quantile 1, expected between 0 and 1");
  EXPECT_EQ(message([](PrivacyOptions& o) { o.clip_lr = 0; }),
            "dp_clip_lr 0, expected above 0 and at most 10");
  EXPECT_EQ(message([](PrivacyOptions& o) { o.count_noise = 0.5; }),
            "dp_count_noise 0.5, expected more than half of the dp_noise of 1: the count alone "
            "would spend more");
  EXPECT_EQ(message([](PrivacyOptions& o) { o.count_noise = std::nan(""); }),
            "dp_count_noise nan, expected 0 or more");
  EXPECT_EQ(message([](PrivacyOptions& o) {
              o.clip = 0;
              o.noise = 0;
            }),
            "dp_target_quantile 0.5 without dp_clip, expected a norm to begin with");
  EXPECT_EQ(message([](PrivacyOptions& o) {
              o.target_quantile.reset();
              o.count_noise = 2;
            }),
            "dp_count_noise 2 without dp_target_quantile: nothing is counted");
}

Config asking(double noise) {
  Config config;
  config.privacy.clip = 1;
  config.privacy.noise = noise;
  return config;
}

TEST(PrivacySpent, IsAFigureWhereATheoremHolds) {
  Config config = asking(4);
  const auto fixed = PrivacySpent(config).after(10);
  config.privacy.sampling = Sampling::poisson;
  const auto poisson = PrivacySpent(config).after(10);
  ASSERT_TRUE(fixed && poisson);
  EXPECT_EQ(*fixed, RenyiAccountant(Sampling::fixed, 0.1, 4).epsilon(10, 1e-5));
  EXPECT_EQ(*poisson, RenyiAccountant(Sampling::poisson, 0.1, 4).epsilon(10, 1e-5));
  EXPECT_NE(privacy_text(config, 10).find("for one client more or less"), std::string::npos);
  const base::Json json = privacy_json(config, 10, 0.5);
  EXPECT_EQ(json.find("epsilon")->as_double(), *poisson);
  EXPECT_EQ(json.find("clip")->as_double(), 0.5);
  EXPECT_TRUE(json.find("why_unknown")->is_null());
}

TEST(PrivacySpent, IsNoNumberWhereNoneDoes) {
  const auto why = [](auto&& change) {
    Config config = asking(1);
    change(config);
    const PrivacySpent spent(config);
    EXPECT_FALSE(spent.after(3));
    EXPECT_TRUE(privacy_json(config, 3, 1).find("epsilon")->is_null());
    EXPECT_TRUE(privacy_json(config, 3, 1).find("neighbours")->is_null());
    return *privacy_json(config, 3, 1).find("why_unknown")->as_string();
  };
  EXPECT_EQ(why([](Config& c) { c.method = "system_aware.oort"; }),
            "system_aware.oort chooses clients by what it knows of them");
  EXPECT_EQ(why([](Config& c) { c.privacy.noise = 0; }), "no noise is added");
  EXPECT_EQ(why([](Config& c) {
              c.world.staleness = 1;
              c.world.deadline = 1;
            }),
            "late updates may join those of the same client");
  EXPECT_EQ(why([](Config& c) { c.privacy.noise = -1; }),
            "the configuration is not one that can be simulated");
  EXPECT_EQ(why([](Config& c) { c.clients = c.per_round = 0; }),
            "the configuration is not one that can be simulated");
  Config everyone = asking(1);
  everyone.method = "system_aware.oort";
  everyone.per_round = everyone.clients;
  EXPECT_TRUE(PrivacySpent(everyone).after(1)) << "there is nothing to choose";
  EXPECT_TRUE(privacy_json(Config{}, 3, std::nullopt).is_null());
  EXPECT_EQ(privacy_text(Config{}, 3), "");
}

}  // namespace
}  // namespace ebb::fl
