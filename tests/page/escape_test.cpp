// SPDX-License-Identifier: Apache-2.0
#include "page/escape.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/json.h"

namespace ebb::page {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(HtmlText, LeavesNoCharacterThatMarkupIsMadeOf) {
  EXPECT_EQ(html_text("</title><script>alert('1' & \"2\")"),
            "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)");
}

TEST(HtmlText, KeepsCharactersOfEveryLength) {
  const std::string text = "a\u00e9\u20ac\U0001F30A\U0010FFFF";
  EXPECT_EQ(html_text(text), text);
}

TEST(HtmlText, ReplacesWhatIsNoUtf8ByteByByte) {
  EXPECT_EQ(html_text("a\x80z"), "a" + kReplacement + "z") << "a continuation of nothing";
  EXPECT_EQ(html_text("\xE2\x82"), kReplacement + kReplacement) << "cut short";
  EXPECT_EQ(html_text("\xC0\xBC"), kReplacement + kReplacement) << "an overlong <";
  EXPECT_EQ(html_text("\xE0\x80\xBC"), kReplacement + kReplacement + kReplacement);
  EXPECT_EQ(html_text("\xED\xA0\x80"), kReplacement + kReplacement + kReplacement)
      << "half of a surrogate pair";
  EXPECT_EQ(html_text("\xF4\x90\x80\x80").size(), 12U) << "above the last character";
  EXPECT_EQ(html_text("\xFF<"), kReplacement + "&lt;");
  EXPECT_EQ(html_text("\xE2<b>"), kReplacement + "&lt;b&gt;") << "a lead byte hides no markup";
  EXPECT_EQ(html_text(std::string_view("a\0b", 3)), "a" + kReplacement + "b");
}

TEST(ScriptJson, CannotEndItsElementAndMeansTheSame) {
  const std::string hostile = "</script><!--<script>]]>&amp;\u2028\u2029 \\u003c \"quoted\"";
  const std::string text = script_json(base::Json::object({{hostile, hostile}}).text());
  for (const char* forbidden : {"<", ">", "&", "\u2028", "\u2029"})
    EXPECT_EQ(text.find(forbidden), std::string::npos) << forbidden;
  const auto back = base::parse_json(text);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  const base::Json* value = back->find(hostile);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value->as_string(), hostile);
}

TEST(ScriptJson, ReplacesWhatIsNoUtf8) {
  const std::string text = script_json(base::Json("a\xFF\xC3\"").text());
  EXPECT_EQ(text, "\"a" + kReplacement + kReplacement + "\\\"\"");
}

TEST(ScriptJson, HoldsWhateverBytesComeIn) {
  std::uint32_t state = 1;
  const std::string_view alphabet = "<>&/!-\"\\su\x80\xA8\xBF\xC2\xE2\xED\xF0\xF4\xFF\n";
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (int i = 0; i < 24; ++i) {
      state = state * 1664525U + 1013904223U;
      bytes += alphabet[(state >> 16U) % alphabet.size()];
    }
    const std::string text = script_json(base::Json(bytes).text());
    ASSERT_EQ(text.find_first_of("<>&"), std::string::npos) << "round " << round;
    const auto back = base::parse_json(text);
    ASSERT_TRUE(back.has_value()) << "round " << round << ": " << back.error().message;
    ASSERT_EQ(html_text(*back->as_string()), html_text(bytes)) << "round " << round;
    ASSERT_EQ(script_json(text), text) << "round " << round << ": not all of it was UTF-8";
  }
}

}  // namespace
}  // namespace ebb::page
