// SPDX-License-Identifier: Apache-2.0
#include "fl/data/holdings.h"

#include <algorithm>

namespace ebb::fl {
namespace {

class HoldingsTest : public testing::Test {
 protected:
  HoldingsTest() {
    data_.classes = 4;
    for (std::uint32_t i = 0; i < 400; ++i)
      data_.train.labels.push_back(static_cast<std::uint8_t>(i % 4));
  }

  Holdings made(PartitionKind kind, SizeSkew sizes = SizeSkew::none) const {
    PartitionOptions options;
    options.kind = kind;
    options.sizes = sizes;
    options.samples_per_client = 30;
    auto holdings = Holdings::create(data_, 20, options, 3);
    EBB_CHECK(holdings.has_value());
    return *std::move(holdings);
  }

  DataSet data_;
};

TEST_F(HoldingsTest, SayTheSameOfAClientHoweverTheyAreAsked) {
  for (const PartitionKind kind :
       {PartitionKind::iid, PartitionKind::dirichlet, PartitionKind::shards, PartitionKind::mix}) {
    const Holdings holdings = made(kind, SizeSkew::lognormal);
    ASSERT_EQ(holdings.clients(), 20U);
    for (std::uint32_t client = 0; client < 20; ++client) {
      const auto samples = holdings.samples_of(client);
      EXPECT_EQ(holdings.size_of(client), samples.size());
      std::vector<std::uint32_t> counts(4);
      for (const std::uint32_t sample : samples)
        ++counts[data_.train.labels[sample]];
      EXPECT_EQ(holdings.label_counts(client, data_), counts);
    }
  }
}

TEST_F(HoldingsTest, OfDealtSamplesACohortHasAllAtMost) {
  EXPECT_EQ(made(PartitionKind::iid).most_of(2), 400U);
}

TEST_F(HoldingsTest, OfSharedSamplesACohortHasItsLargestClientsAtMost) {
  const Holdings holdings = made(PartitionKind::mix, SizeSkew::power_law);
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t client = 0; client < 20; ++client)
    sizes.push_back(holdings.size_of(client));
  std::sort(sizes.rbegin(), sizes.rend());
  EXPECT_EQ(holdings.most_of(1), sizes[0]);
  EXPECT_EQ(holdings.most_of(3), sizes[0] + sizes[1] + sizes[2]);
  EXPECT_EQ(holdings.most_of(20), holdings.most_of(99));
}

TEST_F(HoldingsTest, MoreClientsThanSamplesMayShareThem) {
  PartitionOptions options;
  options.kind = PartitionKind::mix;
  options.samples_per_client = 30;
  EXPECT_TRUE(Holdings::create(data_, 5000, options, 3));
  options.kind = PartitionKind::iid;
  EXPECT_FALSE(Holdings::create(data_, 5000, options, 3));
}

}  // namespace
}  // namespace ebb::fl
