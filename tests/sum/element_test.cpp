// SPDX-License-Identifier: Apache-2.0
#include "sum/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sum/widest.h"

namespace ebb::sum {
namespace {

TEST(Element, EveryHalfAndBrainFloatSurvivesTheWayThereAndBack) {
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto before = static_cast<std::uint16_t>(bits);
      double value = 0;
      load(type, &before, 0, 1, &value);
      if (std::isnan(value)) continue;
      std::uint16_t after = 0;
      store(type, &value, 1, &after, 0);
      ASSERT_EQ(after, before) << "type " << static_cast<int>(type);
    }
  }
}

TEST(Element, HalvesRoundToNearestEven) {
  const auto half = [](double value) {
    std::uint16_t bits = 0;
    store(ElementType::float16, &value, 1, &bits, 0);
    return bits;
  };
  EXPECT_EQ(half(1.0), 0x3c00);
  EXPECT_EQ(half(1.0 + 0x1p-11), 0x3c00);            // a tie, down to even
  EXPECT_EQ(half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);  // above it
  EXPECT_EQ(half(1.0 + 3 * 0x1p-11), 0x3c02);        // a tie, up to even
  EXPECT_EQ(half(65504.0), 0x7bff);
  EXPECT_EQ(half(65519.9), 0x7bff);
  EXPECT_EQ(half(65520.0), 0x7c00);  // infinity
  EXPECT_EQ(half(-1e300), 0xfc00);
  EXPECT_EQ(half(0x1p-25), 0x0000);
  EXPECT_EQ(half(0x1.8p-25), 0x0001);
  EXPECT_EQ(half(-0.0), 0x8000);
}

TEST(Element, LoadsIntegersAndFindsWhatIsNoNumber) {
  const std::int64_t numbers[] = {3, -(1LL << 53), (1LL << 53) + 2};
  double loaded[3];
  load(ElementType::int64, numbers, 0, 3, loaded);
  EXPECT_EQ(loaded[1], -0x1p53);
  EXPECT_EQ(first_unusable(ElementType::int64, loaded, 3), 2U);
  const float floats[] = {1, std::numeric_limits<float>::quiet_NaN()};
  load(ElementType::float32, floats, 0, 2, loaded);
  EXPECT_EQ(first_unusable(ElementType::float32, loaded, 2), 1U);
  EXPECT_FALSE(element_type_from(0));
  EXPECT_FALSE(element_type_from(10));
}

template <class T>
double largest_in(ElementType type, const std::vector<T>& values, std::size_t first) {
  const std::size_t count = values.size() - first;
  std::vector<double> loaded(count);
  load(type, values.data(), first, count, loaded.data());
  return largest_magnitude(type, values.data(), first, count, loaded.data());
}

template <class T>
void expect_the_largest(ElementType type) {
  for (const bool wide : {false, true}) {
    use_wide_vectors(wide);
    EXPECT_EQ(largest_in(type, std::vector<T>{}, 0), 0);
    for (std::size_t count = 1; count < 70; ++count) {
      std::vector<T> values(count + 1, T{-1});
      values[0] = T{100};  // not asked for
      const std::size_t place = 1 + count * 2 / 3;
      values[std::min(place, count)] = T{-3};
      ASSERT_EQ(largest_in(type, values, 1), 3) << count << " elements, wide: " << wide;
    }
  }
  use_wide_vectors(true);
}

TEST(Element, FindsTheLargestMagnitude) {
  expect_the_largest<float>(ElementType::float32);
  expect_the_largest<double>(ElementType::float64);
  expect_the_largest<std::int32_t>(ElementType::int32);
  const double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(largest_in(ElementType::float64, std::vector<double>{0, -smallest, -0.0}, 0), smallest);
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(largest_in(ElementType::float32, std::vector<float>{0, -least, -0.0F}, 0), least);
  const std::int64_t most = std::int64_t{1} << 53U;
  EXPECT_EQ(largest_in(ElementType::int64, std::vector<std::int64_t>{3, -most}, 0), 0x1p53);
  EXPECT_FALSE(
      std::isfinite(largest_in(ElementType::int64, std::vector<std::int64_t>{most + 2}, 0)));
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")}) {
    for (std::size_t place = 0; place < 40; ++place) {
      std::vector<double> doubles(40, -std::numeric_limits<double>::max());
      std::vector<float> floats(40, -std::numeric_limits<float>::max());
      EXPECT_TRUE(std::isfinite(largest_in(ElementType::float64, doubles, 0)));
      EXPECT_TRUE(std::isfinite(largest_in(ElementType::float32, floats, 0)));
      doubles[place] = bad;
      floats[place] = static_cast<float>(bad);
      EXPECT_FALSE(std::isfinite(largest_in(ElementType::float64, doubles, 0)));
      EXPECT_FALSE(std::isfinite(largest_in(ElementType::float32, floats, 0)));
    }
  }
}

TEST(Element, KnowsWhetherAllAreFinite) {
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
    for (std::uint32_t number = 0; number < 0x10000; ++number) {
      const auto bits = static_cast<std::uint16_t>(number);
      double value = 0;
      load(type, &bits, 0, 1, &value);
      ASSERT_EQ(all_finite(type, 1, &bits), std::isfinite(value)) << number;
    }
  }
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")}) {
    for (std::size_t count = 1; count < 40; ++count) {
      std::vector<double> doubles(count, -std::numeric_limits<double>::max());
      std::vector<float> floats(count, -std::numeric_limits<float>::max());
      EXPECT_TRUE(all_finite(ElementType::float64, count, doubles.data()));
      EXPECT_TRUE(all_finite(ElementType::float32, count, floats.data()));
      doubles[count * 2 / 3] = bad;
      floats[count * 2 / 3] = static_cast<float>(bad);
      EXPECT_FALSE(all_finite(ElementType::float64, count, doubles.data()));
      EXPECT_FALSE(all_finite(ElementType::float32, count, floats.data()));
    }
  }
  const std::int64_t large = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(all_finite(ElementType::int32, 2, &large));
  EXPECT_FALSE(all_finite(ElementType::int64, 1, &large));
}

}  // namespace
}  // namespace ebb::sum
