// SPDX-License-Identifier: Apache-2.0
#include "sum/narrow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "sum/widest.h"

namespace ebb::sum {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// Integers of all sizes up to 2^63, those at the edges of halves among them.
std::vector<std::int64_t> random_integers(std::mt19937_64& random, std::size_t count) {
  const std::int64_t edges[] = {0,
                                1,
                                -1,
                                kMost,
                                kLeast,
                                1LL << 31U,
                                -(1LL << 31U),
                                1LL << 32U,
                                -(1LL << 32U),
                                kMost - 1,
                                3LL << 31U,
                                (1LL << 53U) + 1};
  std::vector<std::int64_t> integers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto any = static_cast<std::int64_t>(random());
    integers.push_back(random() % 8 == 0 ? edges[random() % std::size(edges)]
                                         : any >> (random() % 64));
  }
  return integers;
}

/// The same, of at most 53 bits each.
std::vector<double> random_whole_doubles(std::mt19937_64& random, std::size_t count) {
  std::vector<double> doubles;
  for (const std::int64_t integer : random_integers(random, count)) {
    const auto value = static_cast<double>(integer);
    doubles.push_back(std::fabs(value) < 0x1p63 ? value : 0x1p63 - 1024);
  }
  return doubles;
}

/// Each loop in the form that every processor runs, and in the one for wide vectors.
class Narrow : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (use_wide_vectors(GetParam()) != GetParam()) GTEST_SKIP() << "no wide vectors here";
  }
  void TearDown() override { use_wide_vectors(true); }
};
INSTANTIATE_TEST_SUITE_P(Vectors, Narrow, testing::Bool(), [](const auto& wide) {
  return std::string(wide.param ? "Wide" : "Everywhere");
});

TEST_P(Narrow, SumsAreThoseOfIntegers) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t count = 1 + random() % 130;
    const std::vector<std::int64_t> before = random_integers(random, count);
    std::vector<double> values = random_whole_doubles(random, count);
    const double scale = std::ldexp(random() % 2 == 0 ? 1 : -1, static_cast<int>(random() % 60));
    std::vector<std::int64_t> set(count);
    std::vector<std::int64_t> added = before;
    std::vector<std::int64_t> taken = before;
    std::vector<std::int64_t> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] = static_cast<std::int64_t>(std::copysign(1.0, scale) * values[i]);
      values[i] /= std::fabs(scale);
    }
    ASSERT_TRUE(set_units(values.data(), count, scale, set.data()));
    ASSERT_EQ(set, expected);
    ASSERT_TRUE(add_units(values.data(), count, scale, added.data()));
    take_units(values.data(), count, scale, taken.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto old = static_cast<std::uint64_t>(before[i]);
      const auto by = static_cast<std::uint64_t>(expected[i]);
      ASSERT_EQ(static_cast<std::uint64_t>(added[i]), old + by);
      ASSERT_EQ(static_cast<std::uint64_t>(taken[i]), old - by);
    }
  }
}

TEST_P(Narrow, FractionsAreRefusedAndTakenBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 4000; ++round) {
    const std::size_t count = 1 + random() % 130;
    const std::vector<std::int64_t> before = random_integers(random, count);
    std::vector<double> values = random_whole_doubles(random, count);
    const double fractions[] = {
        0.5, -0.5, 1.5, 0x1p-300, -0x1p51 - 0.5, 0x1p31 + 0.5, 0x1p32 - 0x1p-20};
    values[random() % count] = fractions[random() % std::size(fractions)];
    std::vector<std::int64_t> sums = before;
    ASSERT_FALSE(set_units(values.data(), count, 1, std::vector<std::int64_t>(count).data()));
    ASSERT_FALSE(add_units(values.data(), count, 1, sums.data()));
    take_units(values.data(), count, 1, sums.data());
    ASSERT_EQ(sums, before);
  }
}

TEST_P(Narrow, UnitsBecomeTheNearestDoubles) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t count = 1 + random() % 130;
    const std::vector<std::int64_t> units = random_integers(random, count);
    const double scale = std::ldexp(1, static_cast<int>(random() % 1800) - 900);
    const double divisor = (static_cast<double>(random() % 1000) - 500.5) / 8;
    std::vector<double> read(count);
    from_units(units.data(), count, scale, divisor, read.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double expected = static_cast<double>(units[i]) * scale / divisor;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(read[i]), std::bit_cast<std::uint64_t>(expected))
          << units[i] << " * " << scale << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace ebb::sum
