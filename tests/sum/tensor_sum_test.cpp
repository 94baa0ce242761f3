// SPDX-License-Identifier: Apache-2.0
#include "sum/tensor_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "sum/widest.h"

namespace ebb::sum {
namespace {

template <class T>
struct Contribution {
  std::vector<T> values;
  double weight;
};

template <class T>
constexpr ElementType kType = sizeof(T) == 4 ? ElementType::float32 : ElementType::float64;

template <class T>
std::vector<T> mean_of(const std::vector<Contribution<T>>& parts,
                       const std::vector<std::size_t>& order) {
  auto sum = TensorSum::create(parts[0].values.size());
  EXPECT_TRUE(sum);
  for (const std::size_t index : order)
    EXPECT_TRUE((*sum)->add(kType<T>, parts[index].values.data(), parts[index].weight));
  std::vector<T> mean(parts[0].values.size());
  EXPECT_TRUE((*sum)->mean(kType<T>, mean.data(), false));
  return mean;
}

/// Values whose magnitudes spread over 2^±spread around 1.
template <class T>
std::vector<Contribution<T>> random_parts(std::mt19937_64& random, std::size_t clients,
                                          std::size_t elements, int spread, bool whole_weights) {
  std::vector<Contribution<T>> parts;
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  for (std::size_t client = 0; client < clients; ++client) {
    Contribution<T> part;
    for (std::size_t i = 0; i < elements; ++i)
      part.values.push_back(static_cast<T>(std::ldexp(mantissa(random), exponent(random))));
    part.weight =
        whole_weights ? static_cast<double>(1 + random() % 50000) : mantissa(random) + 1.5;
    parts.push_back(std::move(part));
  }
  return parts;
}

template <class T>
void expect_same_bits_in_any_order(int spread, bool whole_weights) {
  std::mt19937_64 random(static_cast<std::uint64_t>(spread) * 2 + (whole_weights ? 1 : 0));
  for (int round = 0; round < 6; ++round) {
    const auto parts = random_parts<T>(random, 7, 300, spread, whole_weights);
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<T> first = mean_of(parts, order);
    for (int shuffle = 0; shuffle < 12; ++shuffle) {
      std::shuffle(order.begin(), order.end(), random);
      const std::vector<T> other = mean_of(parts, order);
      ASSERT_EQ(std::memcmp(first.data(), other.data(), first.size() * sizeof(T)), 0)
          << "spread " << spread << ", round " << round << ", shuffle " << shuffle;
    }
  }
}

TEST(TensorSum, GivesTheSameBitsInAnyOrder) {
  for (const int spread : {0, 3, 20, 60, 120})
    for (const bool whole : {true, false})
      expect_same_bits_in_any_order<float>(spread, whole);
}

TEST(TensorSum, GivesTheSameBitsInAnyOrderForDoubles) {
  for (const int spread : {0, 20, 300, 1000})
    for (const bool whole : {true, false})
      expect_same_bits_in_any_order<double>(spread, whole);
}

TEST(TensorSum, GivesTheSameBitsWithAndWithoutWideVectors) {
  if (!use_wide_vectors(true)) GTEST_SKIP() << "no wide vectors here";
  std::mt19937_64 random(9);
  for (const int spread : {0, 3, 20, 60}) {
    for (const bool whole : {true, false}) {
      const auto parts = random_parts<float>(random, 5, 1000, spread, whole);
      const std::vector<float> wide = mean_of(parts, {0, 1, 2, 3, 4});
      use_wide_vectors(false);
      const std::vector<float> narrow = mean_of(parts, {0, 1, 2, 3, 4});
      use_wide_vectors(true);
      ASSERT_EQ(std::memcmp(wide.data(), narrow.data(), wide.size() * sizeof(float)), 0) << spread;
    }
  }
}

TEST(TensorSum, IsAsExactAsLongDoubles) {
  std::mt19937_64 random(5);
  const auto parts = random_parts<float>(random, 50, 400, 4, true);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<float> mean = mean_of(parts, order);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    long double sum = 0;
    long double weight = 0;
    for (const auto& part : parts) {
      sum += static_cast<long double>(part.values[i]) * part.weight;
      weight += part.weight;
    }
    const auto expected = static_cast<float>(sum / weight);
    EXPECT_FLOAT_EQ(mean[i], expected);
    EXPECT_LE(std::fabs(mean[i] - static_cast<float>(sum / weight)),
              std::fabs(std::nextafter(expected, 1e30F) - expected));
  }
}

TEST(TensorSum, LosesNothingToCancellation) {
  auto sum = TensorSum::create(1);
  ASSERT_TRUE(sum);
  for (const double value : {1e300, 1.0, 1e-300, -1e300, -1.0})
    ASSERT_TRUE((*sum)->add(ElementType::float64, &value, 1));
  double mean = 0;
  ASSERT_TRUE((*sum)->mean(ElementType::float64, &mean, false));
  EXPECT_EQ(mean, 1e-300 / 5);
}

TEST(TensorSum, LosesNothingBetweenTheLargestAndTheSmallest) {
  auto sum = TensorSum::create(1);
  ASSERT_TRUE(sum);
  const double large = 0x1p900;
  const float smallest = std::numeric_limits<float>::denorm_min();
  const double weight = 0x1p-90;
  ASSERT_TRUE((*sum)->add(ElementType::float64, &large, weight));
  ASSERT_TRUE((*sum)->add(ElementType::float32, &smallest, weight));
  ASSERT_TRUE((*sum)->add(ElementType::float64, &large, -weight));
  double mean = 0;
  ASSERT_TRUE((*sum)->mean(ElementType::float64, &mean, false));
  EXPECT_EQ(mean, static_cast<double>(smallest));
}

TEST(TensorSum, TheNegativeWeightTakesAContributionBack) {
  std::mt19937_64 random(6);
  auto parts = random_parts<float>(random, 4, 300, 30, false);
  const std::vector<float> expected = mean_of(parts, {0, 1, 2});
  Contribution<float> back = parts[3];
  back.weight = -back.weight;
  parts.push_back(back);
  EXPECT_EQ(mean_of(parts, {3, 0, 1, 4, 2}), expected);
}

TEST(TensorSum, TakesEightBytesPerElementForWeightsLikeThoseOfNetworks) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal(0, 0.02F);
  constexpr std::size_t kElements = 100'000;
  auto sum = TensorSum::create(kElements);
  ASSERT_TRUE(sum);
  for (int client = 0; client < 8; ++client) {
    std::vector<float> values(kElements);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    ASSERT_TRUE((*sum)->add(ElementType::float32, values.data(), 500.0 + client));
  }
  EXPECT_LT((*sum)->bytes(), kElements * 9);
}

TEST(TensorSum, RefusesWhatIsNotFiniteAndAddsNothing) {
  auto sum = TensorSum::create(200);
  ASSERT_TRUE(sum);
  std::vector<float> values(200, 1.0F);
  ASSERT_TRUE((*sum)->add(ElementType::float32, values.data(), 2));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> other(200, 5.0F);
    other[150] = bad;
    const base::Status added = (*sum)->add(ElementType::float32, other.data(), 1);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, base::Code::bad_input);
    EXPECT_NE(added.error().message.find("element 150"), std::string::npos);
  }
  EXPECT_FALSE(
      (*sum)->add(ElementType::float32, values.data(), std::numeric_limits<double>::infinity()));
  EXPECT_EQ((*sum)->additions(), 1U);
  EXPECT_EQ((*sum)->weight(), 2.0);
  std::vector<float> mean(200);
  ASSERT_TRUE((*sum)->mean(ElementType::float32, mean.data(), true));
  EXPECT_EQ(mean, values);
  EXPECT_FALSE((*sum)->mean(ElementType::float32, mean.data(), false)) << "no weight any more";
}

TEST(TensorSum, WhatItHadAddedOfATensorItRefusesIsTakenBack) {
  std::mt19937_64 random(10);
  for (const int spread : {3, 300}) {
    for (const bool first : {true, false}) {
      auto parts = random_parts<double>(random, 3, 1000, spread, false);
      const std::vector<double> expected = mean_of(parts, {0, 1});
      parts[2].values[999] = std::numeric_limits<double>::quiet_NaN();
      auto sum = TensorSum::create(1000);
      ASSERT_TRUE(sum);
      const auto add = [&](std::size_t part) {
        return (*sum)->add(ElementType::float64, parts[part].values.data(), parts[part].weight);
      };
      if (first) {
        ASSERT_FALSE(add(2));
      }
      ASSERT_TRUE(add(0));
      ASSERT_TRUE(add(1));
      if (!first) {
        ASSERT_FALSE(add(2));
      }
      EXPECT_EQ((*sum)->additions(), 2U);
      std::vector<double> mean(1000);
      ASSERT_TRUE((*sum)->mean(ElementType::float64, mean.data(), true));
      EXPECT_EQ(mean, expected) << "spread " << spread;
    }
  }
}

TEST(TensorSum, CanBeUsedAgainAfterItWasReleased) {
  constexpr std::size_t kElements = 300'000;
  auto sum = TensorSum::create(kElements);
  ASSERT_TRUE(sum);
  std::vector<float> mean(kElements);
  for (const float value : {3.0F, -0.125F, 1e-20F}) {
    const std::vector<float> values(kElements, value);
    ASSERT_TRUE((*sum)->add(ElementType::float32, values.data(), 3));
    ASSERT_TRUE((*sum)->mean(ElementType::float32, mean.data(), true));
    EXPECT_EQ(mean, values);
  }
}

TEST(TensorSum, SumsFromManyThreads) {
  constexpr std::size_t kElements = 1000;
  auto sum = TensorSum::create(kElements);
  ASSERT_TRUE(sum);
  std::vector<std::thread> threads;
  for (int client = 1; client <= 8; ++client) {
    threads.emplace_back([&, client] {
      const std::vector<float> values(kElements, static_cast<float>(client));
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE((*sum)->add(ElementType::float32, values.data(), client));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ((*sum)->additions(), 160U);
  std::vector<float> mean(kElements);
  ASSERT_TRUE((*sum)->mean(ElementType::float32, mean.data(), false));
  EXPECT_EQ(mean[999], static_cast<float>(204.0 / 36.0));  // of squares 1 to 8, by 1 to 8
}

TEST(TensorSum, HoldsNothingAtAll) {
  auto sum = TensorSum::create(0);
  ASSERT_TRUE(sum);
  ASSERT_TRUE((*sum)->add(ElementType::float32, nullptr, 1));
  ASSERT_TRUE((*sum)->mean(ElementType::float32, nullptr, true));
  EXPECT_FALSE(TensorSum::create(std::numeric_limits<std::size_t>::max()));
}

}  // namespace
}  // namespace ebb::sum
