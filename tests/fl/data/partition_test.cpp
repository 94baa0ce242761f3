// SPDX-License-Identifier: Apache-2.0
#include "fl/data/partition.h"

#include <cmath>
#include <set>

namespace ebb::fl {
namespace {

constexpr std::uint32_t kClasses = 10;

std::vector<std::uint8_t> labels_of(std::size_t count) {
  std::vector<std::uint8_t> labels(count);
  for (std::size_t i = 0; i < count; ++i)
    labels[i] = static_cast<std::uint8_t>(i * 7 % kClasses);
  return labels;
}

Partition dealt(const std::vector<std::uint8_t>& labels, std::uint32_t clients,
                const PartitionOptions& options, std::uint64_t seed = 1) {
  const auto partition = partition_samples(labels, kClasses, clients, options, seed);
  EXPECT_TRUE(partition) << partition.error().message;
  return partition.value_or(Partition{{}, {0}});
}

/// Share of each label in what a client has.
std::vector<double> mix_of(const Partition& partition, std::uint32_t client,
                           const std::vector<std::uint8_t>& labels) {
  std::vector<double> mix(kClasses);
  for (const std::uint32_t sample : partition.of(client))
    mix[labels[sample]] += 1.0 / static_cast<double>(partition.of(client).size());
  return mix;
}

double mean_entropy(const Partition& partition, const std::vector<std::uint8_t>& labels) {
  double sum = 0;
  for (std::uint32_t client = 0; client < partition.clients(); ++client)
    for (const double share : mix_of(partition, client, labels))
      if (share > 0) sum -= share * std::log(share);
  return sum / partition.clients();
}

void expect_one_owner_each(const Partition& partition, std::size_t samples, bool all) {
  const std::set<std::uint32_t> owned(partition.indices.begin(), partition.indices.end());
  EXPECT_EQ(owned.size(), partition.indices.size());
  EXPECT_LT(*owned.rbegin(), samples);
  if (all) {
    EXPECT_EQ(owned.size(), samples);
  }
  for (std::uint32_t client = 0; client < partition.clients(); ++client)
    EXPECT_GE(partition.of(client).size(), 1U) << client;
}

std::vector<PartitionOptions> kinds() {
  std::vector<PartitionOptions> all(4);
  all[1].kind = PartitionKind::dirichlet;
  all[1].alpha = 0.05;
  all[2].kind = PartitionKind::dirichlet;
  all[2].alpha = 1;
  all[3].kind = PartitionKind::shards;
  return all;
}

TEST(Partitions, GiveEverySampleToOneClientAndEveryClientASample) {
  for (const PartitionOptions& options : kinds()) {
    for (const std::size_t samples : {200U, 201U, 5003U}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(std::string(name_of(options.kind)) + " " + std::to_string(seed));
        expect_one_owner_each(dealt(labels_of(samples), 100, options, seed), samples, true);
      }
    }
  }
}

TEST(Partitions, AreDecidedByTheirSeed) {
  const std::vector<std::uint8_t> labels = labels_of(3000);
  for (PartitionOptions options : kinds()) {
    for (const SizeSkew skew : {SizeSkew::none, SizeSkew::lognormal, SizeSkew::power_law}) {
      options.sizes = skew;
      const Partition one = dealt(labels, 30, options, 7);
      EXPECT_EQ(one.indices, dealt(labels, 30, options, 7).indices);
      EXPECT_EQ(one.offsets, dealt(labels, 30, options, 7).offsets);
      EXPECT_NE(one.indices, dealt(labels, 30, options, 8).indices);
    }
  }
}

TEST(Partitions, IidGivesEveryoneTheSameNumberAndAboutTheSameMix) {
  const std::vector<std::uint8_t> labels = labels_of(60001);
  const Partition partition = dealt(labels, 100, {});
  for (std::uint32_t client = 0; client < 100; ++client) {
    EXPECT_EQ(partition.of(client).size(), client == 0 ? 601U : 600U);
    // Nine degrees of freedom: 42 is passed once in 300,000.
    double chi = 0;
    for (const double share : mix_of(partition, client, labels))
      chi += (share - 0.1) * (share - 0.1) / 0.1 * 600;
    EXPECT_LT(chi, 42) << client;
  }
}

TEST(Partitions, DirichletConcentratesLabelsAsAlphaFalls) {
  const std::vector<std::uint8_t> labels = labels_of(20000);
  PartitionOptions options;
  options.kind = PartitionKind::dirichlet;
  double last = 0;
  for (const double alpha : {0.05, 0.2, 1.0, 10.0, 1000.0}) {
    options.alpha = alpha;
    const double entropy = mean_entropy(dealt(labels, 50, options), labels);
    EXPECT_GT(entropy, last) << alpha;
    last = entropy;
  }
  EXPECT_GT(last, 0.99 * std::log(kClasses));
}

TEST(Partitions, ShardsGiveFewLabels) {
  const std::vector<std::uint8_t> labels = labels_of(60000);
  PartitionOptions options;
  options.kind = PartitionKind::shards;
  for (const std::uint32_t each : {1U, 2U, 3U}) {
    options.shards_per_client = each;
    const Partition partition = dealt(labels, 100, options);
    std::size_t at_border = 0;
    for (std::uint32_t client = 0; client < 100; ++client) {
      std::set<std::uint8_t> seen;
      for (const std::uint32_t sample : partition.of(client))
        seen.insert(labels[sample]);
      at_border += seen.size() > each ? seen.size() - each : 0;
      EXPECT_EQ(partition.of(client).size(), 600U);
    }
    // Each of the nine borders between labels lies in one shard at the most.
    EXPECT_LE(at_border, 9U);
  }
}

double variation_of(const Partition& partition) {
  double squares = 0;
  const double mean = static_cast<double>(partition.indices.size()) / partition.clients();
  for (std::uint32_t client = 0; client < partition.clients(); ++client) {
    const double size = static_cast<double>(partition.of(client).size());
    squares += (size - mean) * (size - mean);
  }
  return std::sqrt(squares / partition.clients()) / mean;
}

TEST(Partitions, SkewedSizesKeepEveryClientsMixOfLabels) {
  const std::vector<std::uint8_t> labels = labels_of(60000);
  for (PartitionOptions options : kinds()) {
    const Partition plain = dealt(labels, 100, options);
    for (const SizeSkew skew : {SizeSkew::lognormal, SizeSkew::power_law}) {
      SCOPED_TRACE(std::string(name_of(options.kind)) + " " + name_of(skew));
      options.sizes = skew;
      options.size_sigma = 1;
      const Partition skewed = dealt(labels, 100, options);
      expect_one_owner_each(skewed, labels.size(), false);
      EXPECT_GT(skewed.indices.size(), labels.size() / 10);
      EXPECT_GT(variation_of(skewed), 0.5);
      for (std::uint32_t client = 0; client < 100; ++client) {
        const std::vector<double> before = mix_of(plain, client, labels);
        const std::vector<double> after = mix_of(skewed, client, labels);
        double distance = 0;
        for (std::size_t label = 0; label < kClasses; ++label) {
          distance += std::abs(before[label] - after[label]) / 2;
          if (before[label] == 0) {
            EXPECT_EQ(after[label], 0);
          }
        }
        // Whole samples: each label is off by less than one of them.
        EXPECT_LE(distance, kClasses / 2.0 / static_cast<double>(skewed.of(client).size()));
      }
    }
  }
}

TEST(Partitions, LognormalSizesHaveTheirSpread) {
  const std::vector<std::uint8_t> labels = labels_of(60000);
  PartitionOptions options;
  options.sizes = SizeSkew::lognormal;
  options.size_sigma = 0.5;
  const Partition partition = dealt(labels, 300, options);
  double sum = 0;
  double squares = 0;
  for (std::uint32_t client = 0; client < 300; ++client) {
    const double log = std::log(static_cast<double>(partition.of(client).size()));
    sum += log;
    squares += log * log;
  }
  EXPECT_NEAR(std::sqrt(squares / 300 - sum / 300 * (sum / 300)), 0.5, 0.08);
}

TEST(Partitions, SkewIsFairWhereThereIsBarelyEnough) {
  PartitionOptions options;
  for (const SizeSkew skew : {SizeSkew::lognormal, SizeSkew::power_law}) {
    options.sizes = skew;
    options.size_sigma = 3;
    options.size_alpha = 0.2;
    expect_one_owner_each(dealt(labels_of(100), 100, options), 100, true);
    expect_one_owner_each(dealt(labels_of(130), 100, options), 130, false);
  }
}

TEST(Partitions, OneClientHasEverything) {
  for (const PartitionOptions& options : kinds())
    EXPECT_EQ(dealt(labels_of(50), 1, options).of(0).size(), 50U);
}

TEST(Partitions, TooFewSamplesAreRefusedWithTheNumbers) {
  const auto none = partition_samples(labels_of(99), kClasses, 100, {}, 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::Code::bad_input);
  EXPECT_EQ(none.error().message,
            "99 samples for 100 clients, expected at least 100: 1 for each client");
  PartitionOptions options;
  options.kind = PartitionKind::shards;
  options.shards_per_client = 3;
  const auto shards = partition_samples(labels_of(299), kClasses, 100, options, 1);
  ASSERT_FALSE(shards);
  EXPECT_EQ(shards.error().message,
            "299 samples for 100 clients, expected at least 300: 3 for each client");
  EXPECT_FALSE(partition_samples(labels_of(10), kClasses, 0, {}, 1));
}

TEST(Partitions, OptionsOutOfTheirRangeAreRefused) {
  const auto refused = [](auto change) {
    PartitionOptions options;
    change(options);
    const auto partition = partition_samples(labels_of(100), kClasses, 10, options, 1);
    return !partition && partition.error().code == base::Code::bad_input;
  };
  EXPECT_TRUE(refused([](PartitionOptions& o) { o.alpha = 0; }));
  EXPECT_TRUE(refused([](PartitionOptions& o) { o.alpha = std::nan(""); }));
  EXPECT_TRUE(refused([](PartitionOptions& o) { o.shards_per_client = 0; }));
  EXPECT_TRUE(refused([](PartitionOptions& o) { o.size_sigma = -1; }));
  EXPECT_TRUE(refused([](PartitionOptions& o) { o.size_alpha = 0; }));
  const auto label = partition_samples(std::vector<std::uint8_t>{0, 10}, kClasses, 1, {}, 1);
  ASSERT_FALSE(label);
  EXPECT_EQ(label.error().message, "sample 1 has label 10, expected one below 10");
}

TEST(Partitions, NamesGoBothWays) {
  for (const PartitionKind kind :
       {PartitionKind::iid, PartitionKind::dirichlet, PartitionKind::shards})
    EXPECT_EQ(*partition_kind_from(name_of(kind)), kind);
  for (const SizeSkew skew : {SizeSkew::none, SizeSkew::lognormal, SizeSkew::power_law})
    EXPECT_EQ(*size_skew_from(name_of(skew)), skew);
  EXPECT_EQ(partition_kind_from("dirichle").error().message,
            "partition 'dirichle': did you mean 'dirichlet'?");
}

}  // namespace
}  // namespace ebb::fl
