// SPDX-License-Identifier: Apache-2.0
#include "fl/data/label_mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

namespace ebb::fl {
namespace {

constexpr std::uint32_t kLabels = 10;

/// `each` samples of every label, mixed up.
std::vector<std::uint8_t> even_labels(std::size_t each) {
  std::vector<std::uint8_t> labels(each * kLabels);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::uint8_t>(i * 7 % kLabels);
  return labels;
}

PartitionOptions mix_of(std::uint32_t samples, double alpha = 0.5) {
  PartitionOptions options;
  options.kind = PartitionKind::mix;
  options.alpha = alpha;
  options.samples_per_client = samples;
  return options;
}

LabelMixes mixes(const std::vector<std::uint8_t>& labels, std::uint32_t clients,
                 const PartitionOptions& options, std::uint64_t seed = 1) {
  auto made = LabelMixes::create(labels, kLabels, clients, options, seed);
  EBB_CHECK(made.has_value());
  return *std::move(made);
}

double mean_of_largest_share(const LabelMixes& all) {
  double sum = 0;
  for (std::uint32_t client = 0; client < all.clients(); ++client) {
    const auto counts = all.label_counts(client);
    sum += *std::max_element(counts.begin(), counts.end()) / double{1.0 * all.size_of(client)};
  }
  return sum / all.clients();
}

TEST(LabelMixes, DrawTheSameSamplesInWhateverOrderAndOnWhateverThread) {
  PartitionOptions options = mix_of(50);
  for (const SizeSkew skew : {SizeSkew::none, SizeSkew::lognormal, SizeSkew::power_law}) {
    options.sizes = skew;
    const std::vector<std::uint8_t> labels = even_labels(300);
    const LabelMixes all = mixes(labels, 200, options, 7);
    std::vector<std::vector<std::uint32_t>> forward(200);
    for (std::uint32_t client = 0; client < 200; ++client)
      forward[client] = all.samples_of(client);
    // Backwards, from another object, every second one twice, and with counts in between.
    const LabelMixes again = mixes(labels, 200, options, 7);
    std::vector<std::vector<std::uint32_t>> backward(200);
    std::thread other([&] {
      for (std::uint32_t client = 200; client-- > 0;) {
        if (client % 2 == 0) (void)again.samples_of(client);
        (void)again.label_counts(199 - client);
        backward[client] = again.samples_of(client);
      }
    });
    other.join();
    EXPECT_EQ(backward, forward) << name_of(skew);
  }
}

TEST(LabelMixes, AreDecidedByTheirSeed) {
  const std::vector<std::uint8_t> labels = even_labels(300);
  EXPECT_NE(mixes(labels, 5, mix_of(50), 1).samples_of(3),
            mixes(labels, 5, mix_of(50), 2).samples_of(3));
}

TEST(LabelMixes, KeepAClientAsItIsHoweverManyOthersThereAre) {
  const std::vector<std::uint8_t> labels = even_labels(300);
  EXPECT_EQ(mixes(labels, 5, mix_of(50)).samples_of(3),
            mixes(labels, 5000, mix_of(50)).samples_of(3));
}

TEST(LabelMixes, GiveNobodyASampleTwiceAndCountWhatTheyGive) {
  const std::vector<std::uint8_t> labels = even_labels(20);
  for (const double alpha : {0.01, 0.5, 100.0}) {
    // Up to everything that there is, far beyond what one label has.
    for (const std::uint32_t size : {1U, 30U, 199U, 200U}) {
      const LabelMixes all = mixes(labels, 40, mix_of(size, alpha));
      for (std::uint32_t client = 0; client < 40; ++client) {
        const std::vector<std::uint32_t> samples = all.samples_of(client);
        ASSERT_EQ(samples.size(), size);
        EXPECT_EQ(std::set<std::uint32_t>(samples.begin(), samples.end()).size(), size);
        std::vector<std::uint32_t> counts(kLabels);
        for (const std::uint32_t sample : samples)
          ++counts[labels.at(sample)];
        EXPECT_EQ(counts, all.label_counts(client));
      }
    }
  }
}

TEST(LabelMixes, ShareTheSamples) {
  const std::vector<std::uint8_t> labels = even_labels(20);
  const LabelMixes all = mixes(labels, 1000, mix_of(30));
  std::vector<std::uint32_t> owners(labels.size());
  for (std::uint32_t client = 0; client < 1000; ++client)
    for (const std::uint32_t sample : all.samples_of(client))
      ++owners[sample];
  // 150 on average.
  EXPECT_GT(*std::min_element(owners.begin(), owners.end()), 90U);
  EXPECT_LT(*std::max_element(owners.begin(), owners.end()), 220U);
}

TEST(LabelMixes, HaveFewerLabelsTheSmallerAlphaIs) {
  const std::vector<std::uint8_t> labels = even_labels(600);
  EXPECT_GT(mean_of_largest_share(mixes(labels, 300, mix_of(50, 0.01))), 0.9);
  const double middle = mean_of_largest_share(mixes(labels, 300, mix_of(50, 0.5)));
  EXPECT_GT(middle, 0.3);
  EXPECT_LT(middle, 0.7);
  EXPECT_LT(mean_of_largest_share(mixes(labels, 300, mix_of(50, 1000))), 0.25);
}

TEST(LabelMixes, DrawOnlyLabelsThatOccur) {
  const std::vector<std::uint8_t> labels = {3, 3, 3, 7, 7, 7, 7};
  const LabelMixes all = mixes(labels, 100, mix_of(2, 0.1));
  for (std::uint32_t client = 0; client < 100; ++client) {
    const auto counts = all.label_counts(client);
    EXPECT_EQ(counts[3] + counts[7], 2U);
  }
}

TEST(LabelMixes, SkewSizesAroundTheirMean) {
  const std::vector<std::uint8_t> labels = even_labels(1000);
  PartitionOptions options = mix_of(100);
  for (const SizeSkew skew : {SizeSkew::lognormal, SizeSkew::power_law}) {
    options.sizes = skew;
    const LabelMixes all = mixes(labels, 5000, options);
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t client = 0; client < 5000; ++client)
      sizes.push_back(all.size_of(client));
    const double mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) / 5000;
    EXPECT_NEAR(mean, 100, 2) << name_of(skew);
    std::sort(sizes.begin(), sizes.end());
    EXPECT_GE(sizes.front(), 1U);
    EXPECT_LT(sizes[2500], 95U) << name_of(skew);
    EXPECT_GT(sizes[4950], 200U) << name_of(skew);
  }
}

TEST(LabelMixes, AreRefusedWhereAClientCannotHaveItsSamples) {
  const std::vector<std::uint8_t> labels = even_labels(20);
  const auto refusal = [&](std::uint32_t clients, const PartitionOptions& options) {
    const auto made = LabelMixes::create(labels, kLabels, clients, options, 1);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(refusal(5, mix_of(201)),
            "samples_per_client 201, expected at most the 200 samples of the data set");
  EXPECT_EQ(refusal(5, mix_of(0)), "0 samples per client, expected at least 1");
  EXPECT_EQ(refusal(0, mix_of(1)), "0 clients, expected at least 1");
  EXPECT_EQ(refusal(5, mix_of(1, 0)), "alpha 0, expected a number above 0");
  const std::vector<std::uint8_t> wrong = {0, 11};
  EXPECT_FALSE(LabelMixes::create(wrong, kLabels, 1, mix_of(1), 1));
}

}  // namespace
}  // namespace ebb::fl
