// SPDX-License-Identifier: Apache-2.0
#include "cache/version.h"

#include <gtest/gtest.h>

namespace ebb::cache {
namespace {

TEST(Version, IsReadFromWhatTorchPrints) {
  for (const char* text : {"2.11", "2.11.0", "2.11.0+cu130", "2.11a0"}) {
    const auto profile = parse_version(text);
    ASSERT_TRUE(profile) << text;
    EXPECT_EQ(profile->minor, 11) << text;
  }
}

TEST(Version, OutsideTheKnownRangeIsAnErrorThatNamesTheRange) {
  for (const char* text : {"", "2", "2.", "1.13", "2.0.1", "2.16", "3.1", "2.x", "2.-1"}) {
    const auto profile = parse_version(text);
    ASSERT_FALSE(profile) << text;
    EXPECT_EQ(profile.error().code, base::Code::bad_input);
    EXPECT_NE(profile.error().message.find("2.1 to 2.15"), std::string::npos);
  }
  EXPECT_FALSE(profile_of(0));
  EXPECT_FALSE(profile_of(16));
}

TEST(Version, TiesWereByAddressThenByObjectThenBySegment) {
  EXPECT_EQ(profile_of(1)->tie_break, TieBreak::address);
  EXPECT_EQ(profile_of(11)->tie_break, TieBreak::address);
  EXPECT_EQ(profile_of(12)->tie_break, TieBreak::creation);
  EXPECT_EQ(profile_of(13)->tie_break, TieBreak::segment);
  EXPECT_EQ(profile_of(15)->tie_break, TieBreak::segment);
}

TEST(Version, OverflowPoolsAppearedAndThenMovedToTheFront) {
  EXPECT_EQ(profile_of(7)->overflow_pools, OverflowPools::never);
  EXPECT_EQ(profile_of(8)->overflow_pools, OverflowPools::last);
  EXPECT_EQ(profile_of(10)->overflow_pools, OverflowPools::last);
  EXPECT_EQ(profile_of(11)->overflow_pools, OverflowPools::first);
}

}  // namespace
}  // namespace ebb::cache
