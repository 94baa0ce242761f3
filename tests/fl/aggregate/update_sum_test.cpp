// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/update_sum.h"

#include <cmath>
#include <limits>
#include <thread>

#include "fl/random.h"

namespace ebb::fl {
namespace {

std::vector<float> model(std::uint64_t seed, std::size_t size) {
  Random random(seed, Purpose::initial_weights);
  std::vector<float> values(size);
  for (float& value : values)
    value = static_cast<float>(random.normal());
  return values;
}

std::vector<std::int64_t> raw_of(const UpdateSum& sum) {
  return {sum.raw().begin(), sum.raw().end()};
}

TEST(UpdateSum, HasTheSameBitsInEveryOrderAndOnEveryNumberOfThreads) {
  constexpr std::size_t kSize = 1000;
  const std::vector<float> from = model(1, kSize);
  std::vector<std::vector<float>> updates;
  for (std::uint64_t i = 0; i < 16; ++i)
    updates.push_back(model(2 + i, kSize));

  UpdateSum forwards(kSize, 60000);
  for (std::size_t i = 0; i < updates.size(); ++i)
    ASSERT_TRUE(forwards.add(from, updates[i], static_cast<double>(100 * i + 1)));
  UpdateSum backwards(kSize, 60000);
  for (std::size_t i = updates.size(); i-- > 0;)
    ASSERT_TRUE(backwards.add(from, updates[i], static_cast<double>(100 * i + 1)));
  UpdateSum threaded(kSize, 60000);
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::size_t i = first; i < updates.size(); i += 4)
        EXPECT_TRUE(threaded.add(from, updates[i], static_cast<double>(100 * i + 1)));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(raw_of(forwards), raw_of(backwards));
  EXPECT_EQ(raw_of(forwards), raw_of(threaded));
}

TEST(UpdateSum, IsTheWeightedMeanToTheLastBitOfAFloat) {
  constexpr std::size_t kSize = 200;
  const std::vector<float> from = model(1, kSize);
  UpdateSum sum(kSize, 60000);
  std::vector<long double> exact(kSize);
  long double weights = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::vector<float> to = model(5 + i, kSize);
    const double weight = static_cast<double>(37 * i + 3);
    ASSERT_TRUE(sum.add(from, to, weight));
    weights += weight;
    for (std::size_t at = 0; at < kSize; ++at)
      exact[at] += static_cast<long double>(weight) *
                   (static_cast<long double>(to[at]) - static_cast<long double>(from[at]));
  }
  EXPECT_EQ(sum.weight(), static_cast<double>(weights));
  for (std::size_t at = 0; at < kSize; ++at)
    EXPECT_NEAR(sum.sum(at) / sum.weight(), static_cast<double>(exact[at] / weights), 1e-12);
}

TEST(UpdateSum, RefusesWhatIsNoNumberOrBeyondAllMeasure) {
  const std::vector<float> from(3, 0.0F);
  UpdateSum sum(3, 100);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1000.0F}) {
    const std::vector<float> to = {0, bad, 0};
    const auto added = sum.add(from, to, 1);
    ASSERT_FALSE(added);
    EXPECT_NE(added.error().message.find("parameter 1"), std::string::npos);
  }
  EXPECT_EQ(raw_of(sum), (std::vector<std::int64_t>(4)));
}

TEST(UpdateSum, HoldsTheLargestMovesOfTheLargestWeight) {
  const std::vector<float> from = {0};
  const std::vector<float> to = {static_cast<float>(UpdateSum::kLargestMove)};
  UpdateSum sum(1, 60000);
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(sum.add(from, to, 1000));
  EXPECT_NEAR(sum.sum(0) / sum.weight(), UpdateSum::kLargestMove, 1e-9);
}

}  // namespace
}  // namespace ebb::fl
