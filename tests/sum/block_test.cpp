// SPDX-License-Identifier: Apache-2.0
#include "sum/block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "sum/element.h"

namespace ebb::sum {
namespace {

/// A block with its memory, which at first holds anything.
struct Sums {
  Sums() { std::fill(narrow, narrow + Block::kElements, -12345); }

  std::int64_t narrow[Block::kElements];
  Block block;
};

/// Whether both come out the same, bit for bit.
bool same(const Sums& one, const Sums& other, std::size_t count) {
  double first[Block::kElements];
  double second[Block::kElements];
  one.block.read(one.narrow, count, 3, first);
  other.block.read(other.narrow, count, 3, second);
  return std::memcmp(first, second, count * sizeof(double)) == 0;
}

/// Finite elements of a type: any at all, or (floats) with magnitudes within 2^spread.
std::vector<double> random_values(std::mt19937_64& random, ElementType type, std::size_t count,
                                  int spread) {
  std::vector<double> values(count);
  std::vector<char> raw(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    do {
      std::uint64_t bits = random();
      std::memcpy(raw.data() + i * size_of(type), &bits, size_of(type));
      load(type, raw.data(), i, 1, &values[i]);
    } while (first_unusable(type, &values[i], 1) == 0);
    if (spread >= 0 && (type == ElementType::float32 || type == ElementType::float64)) {
      int exponent = 0;
      const double mantissa = std::frexp(values[i], &exponent);
      values[i] =
          std::ldexp(mantissa, -static_cast<int>(random() % (static_cast<unsigned>(spread) + 1)));
    }
    if (random() % 10 == 0) values[i] = random() % 2 == 0 ? 0.0 : -0.0;
    if (random() % 50 == 0 && type == ElementType::float32) values[i] = 0x1p-149;
  }
  return values;
}

double largest_of(const double* values, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

double random_weight(std::mt19937_64& random) {
  const double weights[] = {8.0,  500.0, -8.0,    1.0,    0.0,     0.1,         1.0 / 3,
                            -1e9, 65537, 0x1p-90, 0x1p99, 0x1p130, 536870911.0, 1073741823.0};
  return random() % 3 == 0 ? static_cast<double>(1 + random() % 50000)
                           : weights[random() % std::size(weights)];
}

/// Adds random tensors to two blocks, one of which never takes the way through doubles.
void expect_the_same_sums(std::mt19937_64& random, ElementType type, int spread, bool one_weight) {
  const std::size_t count = random() % 4 == 0 ? Block::kElements : 1 + random() % Block::kElements;
  Sums quick;
  Sums exact;
  double weight = 8.0;
  const std::uint64_t additions = 1 + random() % 12;
  for (std::uint64_t addition = 1; addition <= additions; ++addition) {
    if (!one_weight) weight = random_weight(random);
    const Weight parts(weight);
    const bool exact_products = significant_bits(type) + parts.bits <= 53;
    const std::vector<double> values = random_values(random, type, count, spread);
    const double largest = largest_of(values.data(), count);
    quick.block.add(quick.narrow, values.data(), count, largest, parts, exact_products, addition);
    exact.block.add(exact.narrow, values.data(), count, largest, parts, false, addition);
    ASSERT_TRUE(same(quick, exact, count))
        << "type " << static_cast<int>(type) << ", spread " << spread << ", weight " << weight
        << ", addition " << addition;
  }
}

TEST(Block, TheQuickWayGivesTheExactSums) {
  std::mt19937_64 random(1);
  for (int number = 1; number <= static_cast<int>(ElementType::uint8); ++number)
    for (const int spread : {0, 4, 12, 20, 24, 40, -1})
      for (int round = 0; round < 6; ++round)
        expect_the_same_sums(random, static_cast<ElementType>(number), spread, round % 2 == 0);
}

TEST(Block, TheQuickWayGivesTheExactSumsOfNormalNumbers) {
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0, 0.02F);
  for (int round = 0; round < 30; ++round) {
    Sums quick;
    Sums exact;
    for (std::uint64_t addition = 1; addition <= 40; ++addition) {
      double values[Block::kElements];
      std::generate(values, values + Block::kElements, [&] { return normal(random); });
      const Weight weight(round % 2 == 0 ? 8.0 : 500.0 + static_cast<double>(addition));
      const double largest = largest_of(values, Block::kElements);
      quick.block.add(quick.narrow, values, Block::kElements, largest, weight, true, addition);
      exact.block.add(exact.narrow, values, Block::kElements, largest, weight, false, addition);
      ASSERT_TRUE(same(quick, exact, Block::kElements)) << "addition " << addition;
    }
    EXPECT_EQ(quick.block.extra_bytes(Block::kElements), 0U);
  }
}

TEST(Block, ScalingDoesNotTurnSmallNumbersIntoNothing) {
  Sums sums;
  std::uint64_t addition = 0;
  for (const double value : {0x1p600, 0x1p-600, -0x1p600})
    sums.block.add(sums.narrow, &value, 1, std::fabs(value), Weight(1), true, ++addition);
  double read = 0;
  sums.block.read(sums.narrow, 1, 1, &read);
  EXPECT_EQ(read, 0x1p-600);
}

}  // namespace
}  // namespace ebb::sum
