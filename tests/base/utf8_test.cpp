// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace ebb::base {
namespace {

TEST(Utf8, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "äöü €", "\xF0\x9F\x8C\x8A", "\x7F"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(utf8_text(text), text);
  }
}

TEST(Utf8, ReplacesEachByteThatBelongsToNoCharacter) {
  EXPECT_EQ(utf8_text("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(utf8_text("\xC3"), "\uFFFD") << "cut off";
  EXPECT_EQ(utf8_text("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(utf8_text("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "half of a surrogate pair";
  EXPECT_FALSE(is_utf8("ok \x80"));
}

TEST(Base64, WritesAndReadsAllLengths) {
  const std::string bytes("\xFF\x00\x10 any", 7);
  const char* texts[] = {"",         "/w==",     "/wA=",     "/wAQ",
                         "/wAQIA==", "/wAQIGE=", "/wAQIGFu", "/wAQIGFueQ=="};
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    EXPECT_EQ(base64_text(bytes.substr(0, length)), texts[length]);
    EXPECT_EQ(base64_bytes(texts[length]), bytes.substr(0, length));
  }
}

TEST(Base64, RefusesWhatItDoesNotWrite) {
  for (const char* text : {"/", "/w", "/w=", "/x==", "/w==/w==", "a-b_", "/wA=\n", "===="})
    EXPECT_FALSE(base64_bytes(text)) << text;
}

}  // namespace
}  // namespace ebb::base
