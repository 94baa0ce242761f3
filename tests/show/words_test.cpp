// SPDX-License-Identifier: Apache-2.0
#include "show/words.h"

#include <gtest/gtest.h>

namespace ebb::show {
namespace {

TEST(Words, PiecesAreJoinedWithWhatStandsBetween) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b", "c"}), "a b c");
  EXPECT_EQ(joined({"a", "b"}, " < "), "a < b");
}

TEST(Words, EveryLineGetsItsEnd) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({"a", "", "b"}), "a\n\nb\n");
}

TEST(Words, LargeNumbersOfParametersAreRounded) {
  EXPECT_EQ(count_text(21'840), "21840");
  EXPECT_EQ(count_text(124'439'808), "124.4 M");
  EXPECT_EQ(count_text(6'738'415'616), "6.74 G");
}

TEST(Words, SettingsThatSayNothingAreTheDefault) {
  EXPECT_EQ(conf_text(""), "(default)");
  EXPECT_EQ(conf_text("expandable_segments:True"), "expandable_segments:True");
}

}  // namespace
}  // namespace ebb::show
