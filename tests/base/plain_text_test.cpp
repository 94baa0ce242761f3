// SPDX-License-Identifier: Apache-2.0
#include "base/plain_text.h"

#include <gtest/gtest.h>

namespace ebb::base {
namespace {

TEST(PlainLine, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "  worker 2", "größe €", "\xF0\x9F\x8C\x8A"})
    EXPECT_EQ(plain_line(text), text);
}

TEST(PlainLine, KeepsOneLine) {
  EXPECT_EQ(plain_line("a\nb\r\nc\td\ve\ff"), "a b  c d e f");
  EXPECT_EQ(plain_line("a\u2028b\u2029c"), "a b c");
}

TEST(PlainLine, HasNothingThatATerminalObeys) {
  EXPECT_EQ(plain_line("\033[31mred\033[0m"), "\uFFFD[31mred\uFFFD[0m");
  EXPECT_EQ(plain_line("\033]0;title\007"), "\uFFFD]0;title\uFFFD");
  EXPECT_EQ(plain_line("\u009B31m"), "\uFFFD31m") << "one character that begins a sequence";
  EXPECT_EQ(plain_line("\x9B[A"), "\uFFFD[A") << "the same as a byte";
  EXPECT_EQ(plain_line(std::string("\0\b\x7F", 3)), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(plain_line("a\u202Eb\u2066c"), "a\uFFFDb\uFFFDc") << "turned around";
}

TEST(PlainLine, IsCutBetweenCharacters) {
  EXPECT_EQ(plain_line("abc", 3), "abc");
  EXPECT_EQ(plain_line("abcd", 3), "abc…");
  EXPECT_EQ(plain_line("äöüß", 3), "äöü…");
  EXPECT_EQ(plain_line("\xFF\xFF\xFF", 2), "\uFFFD\uFFFD…");
}

TEST(PlainLines, KeepLinesTabsAndColoursOnly) {
  EXPECT_EQ(plain_lines("a\tb\n\033[31mred\033[0m\n"), "a\tb\n\033[31mred\033[0m\n");
  EXPECT_EQ(plain_lines("\033[2J\033[31;5m\033[m\033]0;x\007\r\033["),
            "\uFFFD[2J\uFFFD[31;5m\033[m\uFFFD]0;x\uFFFD \uFFFD[");
}

}  // namespace
}  // namespace ebb::base
