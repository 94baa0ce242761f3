// SPDX-License-Identifier: Apache-2.0
#include "sum/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
