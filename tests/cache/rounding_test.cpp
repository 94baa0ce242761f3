// SPDX-License-Identifier: Apache-2.0
#include "cache/rounding.h"

#include <gtest/gtest.h>

namespace ebb::cache {
namespace {

using base::kMiB;
constexpr std::uint64_t kGiB = base::kGiB;

Rounding rounding(const char* text, int minor = 11) {
  const VersionProfile profile = *profile_of(minor);
  const auto settings = parse_settings(text, profile);
  EXPECT_TRUE(settings) << settings.error().message;
  return Rounding(*settings, profile);
}

TEST(Rounding, GoesToMultiplesOf512ByDefault) {
  const Rounding round = rounding("");
  EXPECT_EQ(round(1), 512U);
  EXPECT_EQ(round(512), 512U);
  EXPECT_EQ(round(513), 1024U);
  EXPECT_EQ(round(kMiB + 1), kMiB + 512);
  EXPECT_EQ(round(kAbsurdSize - 1), kAbsurdSize);
}

TEST(Rounding, DivisionsApplyFromTheSizeWhereAStepIsAtLeast512) {
  const Rounding round = rounding("roundup_power2_divisions:4");
  EXPECT_EQ(round(1), 512U);
  EXPECT_EQ(round(1200), 1536U);
  EXPECT_EQ(round(2048), 2048U);
  EXPECT_EQ(round(2049), 2560U);
  EXPECT_EQ(round(3000), 3072U);
  EXPECT_EQ(round(5 * kMiB + 1), 6 * kMiB);
  EXPECT_EQ(round(100 * kMiB), 112 * kMiB);
  EXPECT_EQ(round(128 * kMiB), 128 * kMiB);
  EXPECT_EQ(round(120 * kMiB), 128 * kMiB);
}

TEST(Rounding, ListGivesEachPowerOfTwoItsOwnDivisions) {
  const Rounding round = rounding("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
  EXPECT_EQ(round(100 * kMiB + 1), 100 * kMiB + 512) << "below the first boundary as the first";
  EXPECT_EQ(round(300 * kMiB + 1), 300 * kMiB + 512);
  EXPECT_EQ(round(600 * kMiB), 768 * kMiB);
  EXPECT_EQ(round(kGiB + 1), kGiB + kGiB / 4);
  EXPECT_EQ(round(2 * kGiB + 1), 2 * kGiB + kGiB / 4);
  EXPECT_EQ(round(60 * kGiB + 1), 64 * kGiB);
}

TEST(Rounding, UpTo29TheRestOfAListOverwroteItsLastBoundary) {
  const char* list = "roundup_power2_divisions:[1024:4,>:8]";
  EXPECT_EQ(rounding(list, 9)(kGiB + 1), kGiB + kGiB / 8);
  EXPECT_EQ(rounding(list, 10)(kGiB + 1), kGiB + kGiB / 4);
}

TEST(Rounding, UpTo23OneDivisionLeftSizesAsTheyAre) {
  EXPECT_EQ(rounding("roundup_power2_divisions:1", 3)(1000), 1000U);
  EXPECT_EQ(rounding("roundup_power2_divisions:1", 3)(100), 512U);
  EXPECT_EQ(rounding("roundup_power2_divisions:1", 4)(1000), 1024U);
}

TEST(Rounding, SegmentsAreTwoOrTwentyMebibytesOrTheRequestItself) {
  const std::uint64_t large = 20 * kMiB;
  EXPECT_EQ(segment_size(512, large), 2 * kMiB);
  EXPECT_EQ(segment_size(kMiB, large), 2 * kMiB);
  EXPECT_EQ(segment_size(kMiB + 512, large), 20 * kMiB);
  EXPECT_EQ(segment_size(10 * kMiB - 512, large), 20 * kMiB);
  EXPECT_EQ(segment_size(10 * kMiB, large), 10 * kMiB);
  EXPECT_EQ(segment_size(25 * kMiB + 512, large), 26 * kMiB);
  EXPECT_EQ(segment_size(5 * kMiB, 50 * kMiB), 50 * kMiB);
}

}  // namespace
}  // namespace ebb::cache
