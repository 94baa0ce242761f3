// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace ebb::base {
namespace {

TEST(Text, FormatsAnyLength) {
  EXPECT_EQ(format_text("%s-%d", "a", 1), "a-1");
  EXPECT_EQ(format_text("%s", std::string(10'000, 'x').c_str()).size(), 10'000U);
  EXPECT_EQ(format_text("%s", ""), "");
}

TEST(Text, TrimsSplitsAndFindsWords) {
  EXPECT_EQ(trimmed("  a b\n"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(words("  a\tbc \n"), (std::vector<std::string_view>{"a", "bc"}));
  EXPECT_TRUE(words(" ").empty());
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_unsigned("42"), 42U);
  EXPECT_EQ(parse_unsigned("ff", 16), 255U);
  for (const char* bad : {"", "-1", "+1", " 1", "1x", "18446744073709551616"})
    EXPECT_EQ(parse_unsigned(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_double("2.5"), 2.5);
  for (const char* bad : {"", "inf", "nan", "1e999", "2,5"})
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
}

TEST(Text, SuggestsTheNearestName) {
  const std::vector<std::string_view> roles{"server", "client", "trainer"};
  EXPECT_EQ(nearest("sever", roles), "server");
  EXPECT_EQ(nearest("trianer", roles), "trainer");
  EXPECT_EQ(nearest("zzzzzz", roles), std::nullopt);
}

}  // namespace
}  // namespace ebb::base
