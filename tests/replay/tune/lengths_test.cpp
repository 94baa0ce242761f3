// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/lengths.h"

#include <gtest/gtest.h>

#include <random>

namespace ebb::replay {
namespace {

using Sizes = std::vector<std::vector<std::uint64_t>>;

Sizes sizes_of(const std::vector<std::uint64_t>& lengths) {
  Sizes sizes;
  for (const std::uint64_t n : lengths) {
    sizes.push_back({4096, 768 * n * 4, n * n * 12 * 2, 3 * 768 * n * 2 + 1024});
  }
  return sizes;
}

TEST(Lengths, ExplainConstantLinearAndQuadraticSizes) {
  const auto lengths = Lengths::fit(sizes_of({128, 300, 77, 512, 211, 450}));
  ASSERT_TRUE(lengths);
  // Counted from the shortest, in steps of the greatest common divisor of the differences.
  EXPECT_EQ(lengths->size_at(0, 500 - 77), 4096U);
  EXPECT_EQ(lengths->size_at(1, 500 - 77), 768U * 500 * 4);
  EXPECT_EQ(lengths->size_at(2, 500 - 77), 500U * 500 * 24);
}

TEST(Lengths, AreNotMadeUpWhereTwoNumbersVary) {
  std::mt19937_64 random(3);
  Sizes sizes;
  for (int step = 0; step < 12; ++step) {
    const std::uint64_t n = 100 + random() % 400;
    const std::uint64_t batch = 1 + random() % 16;
    sizes.push_back({n * 4096, n * batch * 4096});
  }
  EXPECT_FALSE(Lengths::fit(sizes));
}

TEST(Lengths, NeedStepsThatConfirmThem) {
  EXPECT_FALSE(Lengths::fit(sizes_of({128, 300, 77})));
  EXPECT_FALSE(Lengths::fit(sizes_of({128, 300, 77, 300, 77})));
}

TEST(Lengths, NeedStepsThatAlign) {
  Sizes sizes = sizes_of({128, 300, 77, 512, 211});
  sizes[2].push_back(512);
  EXPECT_FALSE(Lengths::fit(sizes));
}

TEST(Lengths, OfOneStepThatDoesNotFitAreNone) {
  Sizes sizes = sizes_of({128, 300, 77, 512, 211, 340});
  sizes[5][1] += 2048;
  EXPECT_FALSE(Lengths::fit(sizes));
}

TEST(Lengths, GoBeyondTheRecordedOnesByTheRangeOverTheirCount) {
  const auto lengths = Lengths::fit(sizes_of({100, 200, 301, 400, 500}));
  ASSERT_TRUE(lengths);
  std::mt19937_64 random(1);
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t length = lengths->draw(random());
    least = std::min(least, length);
    most = std::max(most, length);
  }
  EXPECT_EQ(least, -80);
  EXPECT_EQ(most, 480);
}

}  // namespace
}  // namespace ebb::replay
