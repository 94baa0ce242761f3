// SPDX-License-Identifier: Apache-2.0
#include "sites/tally.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sites/layout.h"

namespace ebb::sites {
namespace {

TEST(Tally, LogarithmAndChanceAreThoseOfTheMathematicalLibrary) {
  for (double x = 1e-18; x < 1e18; x *= 1.37)
    EXPECT_NEAR(natural_log(x), std::log(x), 1e-8 * std::max(1.0, std::abs(std::log(x)))) << x;
  for (double x = 1e-9; x < 100; x *= 1.13)
    EXPECT_NEAR(chance(x) / -std::expm1(-x), 1, 1e-8) << x;
  EXPECT_EQ(chance(0), 0);
}

TEST(Tally, DistancesHaveTheMeanAndTheSpreadOfAPoissonProcess) {
  Random random{12345};
  double sum = 0, squares = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto bytes = static_cast<double>(distance(random, 2));
    sum += bytes;
    squares += bytes * bytes;
  }
  const double mean = sum / kDraws;
  const double deviation = std::sqrt(squares / kDraws - mean * mean);
  EXPECT_NEAR(mean / static_cast<double>(kBaseDistance << 2), 1, 0.01);
  EXPECT_NEAR(deviation / mean, 1, 0.02);
}

TEST(Tally, ALargeBlockIsAlwaysSampledAndStandsForItself) {
  EXPECT_NEAR(chance_of(1 << 30, 0), 1, 1e-12);
  EXPECT_NEAR(weight_of(1 << 30, 0), 1 << 30, 1);
}

TEST(Tally, ASmallBlockStandsForTheBytesBetweenSamples) {
  EXPECT_NEAR(weight_of(16, 0), kBaseDistance, 16);
}

/// Samples blocks of one size, thins them, and adds up what is left.
double estimate(std::uint64_t size, unsigned shift, unsigned thinned, int blocks) {
  Random random{99};
  double sum = 0;
  for (int i = 0; i < blocks; ++i) {
    if (random.uniform() > chance_of(size, shift)) continue;
    if (stays(size, shift, thinned, static_cast<std::uint32_t>(random.next() >> 40)))
      sum += weight_of(size, std::max(shift, thinned));
  }
  return sum;
}

TEST(Tally, EstimatesStayRightWhateverTheDistancesWere) {
  for (const std::uint64_t size : {4096ULL, 200'000ULL, 4'000'000ULL}) {
    for (const unsigned shift : {0U, 3U}) {
      for (const unsigned thinned : {0U, 1U, 5U}) {
        const double truth = 400'000.0 * static_cast<double>(size);
        // Some 50 to 400,000 samples are left: the error is their root.
        const double samples = 400'000 * chance_of(size, std::max(shift, thinned));
        EXPECT_NEAR(estimate(size, shift, thinned, 400'000) / truth, 1, 4 / std::sqrt(samples))
            << size << " " << shift << " " << thinned;
      }
    }
  }
}

}  // namespace
}  // namespace ebb::sites
