// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limited_memory.h"

namespace ebb::base {
namespace {

TEST(Json, WritesWhatItReads) {
  for (const char* text : {"null", "true", "false", "0", "-0", "-1", "18446744073709551615",
                           "-9223372036854775808", "0.5", "[]", "{}", R"([1,[2,[3]],{"a":null}])",
                           R"({"b":1,"a":[true,"x\ny"]})", R"("é\u0001")"}) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->text(), text);
    const auto again = parse_json(value->text(true));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->text(), text) << "indentation carries no meaning";
  }
}

TEST(Json, KeepsIntegersExactAndConvertsOnlyWithoutLoss) {
  const Json big(std::uint64_t{18446744073709551615U});
  EXPECT_EQ(big.as_unsigned(), 18446744073709551615U);
  EXPECT_EQ(big.as_int(), std::nullopt);
  EXPECT_EQ(Json(-1).as_unsigned(), std::nullopt);
  EXPECT_EQ(Json(2.0).as_int(), 2);
  EXPECT_EQ(Json(2.5).as_int(), std::nullopt);
  EXPECT_EQ(Json("2").as_int(), std::nullopt);
  EXPECT_EQ(Json(1e300).as_int(), std::nullopt);
}

TEST(Json, WritesNoInvalidNumber) {
  EXPECT_EQ(Json(std::nan("")).text(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
}

TEST(Json, BuildsObjectsInOrder) {
  Json object;
  object.set("z", 1).set("a", Json::array({1, "two"})).set("z", std::optional<double>());
  EXPECT_EQ(object.text(), R"({"z":null,"a":[1,"two"]})");
  ASSERT_NE(object.find("a"), nullptr);
  EXPECT_EQ(object.find("a")->as_array()->size(), 2U);
  EXPECT_EQ(object.find("missing"), nullptr);
  EXPECT_EQ(Json(1).find("a"), nullptr);
}

TEST(Json, ACopyWithoutMemoryThrows) {
  const std::string text(100, 'x');
  const Json json = Json::object(
      {{"text", text}, {"list", Json::array({1, text, Json::object({{"key", text}})})}});
  std::string copied;
  EXPECT_GT(times_without_memory([&] { copied = Json(json).text(); }), 3);
  EXPECT_EQ(copied, json.text());
}

TEST(ParseJson, DecodesEscapesAndSurrogates) {
  EXPECT_EQ(*parse_json(R"("\u00e9\ud83d\ude00\/\b\f")")->as_string(), "é😀/\b\f");
}

TEST(ParseJson, NamesTheOffsetOfWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "offset 0: expected a value"},
      {"[1,]", "offset 3: expected a value"},
      {"[1 2]", "offset 3: expected ',' or ']'"},
      {R"({"a" 1})", "offset 5: expected ':'"},
      {"{1:2}", "offset 1: expected a key"},
      {"nul", "offset 0: expected null"},
      {"1 1", "offset 2: expected the end"},
      {"01", "offset 1: expected the end"},
      {"1.", "offset 2: expected a digit"},
      {"1e", "offset 2: expected a digit"},
      {"-", "offset 1: expected a value"},
      {"1e999", "offset 0: expected a number that a double can hold"},
      {R"("\x")", "offset 2: expected an escape"},
      {R"("\ud800")", "surrogates in pairs"},
      {R"("\udc00")", "surrogates in pairs"},
      {"\"a\nb\"", "no control character"},
      {"\"open", "expected '\"'"},
  };
  for (const auto& c : cases) {
    const auto result = parse_json(c.text);
    ASSERT_FALSE(result) << c.text;
    EXPECT_NE(result.error().message.find(c.message), std::string::npos)
        << c.text << " gave: " << result.error().message;
  }
}

TEST(ParseJson, RefusesBottomlessNesting) {
  EXPECT_TRUE(parse_json(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(parse_json(std::string(100'000, '[')));
}

TEST(Json, WritesNoControlCharacterThatATerminalObeys) {
  EXPECT_EQ(Json("\033\x7F\u0080\u009F\u00A0é").text(), "\"\\u001b\\u007f\\u0080\\u009f\u00A0é\"");
  EXPECT_EQ(*parse_json(Json("\u009B\x7F").text())->as_string(), "\u009B\x7F");
}

TEST(Json, BytesThatAreNoTextStandBesideIt) {
  const Json value = Json::object({{"name", "a\xFFz"}, {"id", 7}});
  EXPECT_EQ(value.text(), "{\"name\":\"a\uFFFDz\",\"name_base64\":\"Yf96\",\"id\":7}");
  EXPECT_EQ(Json::object({{"name", "az"}}).text(), R"({"name":"az"})") << "only then";
  EXPECT_EQ(Json("\xFF").text(), "\"\uFFFD\"") << "nowhere to stand";
  EXPECT_EQ(Json::object({{"\xFF", 1}}).text(), "{\"\uFFFD\":1}");
}

TEST(Json, OfAListAllTextsStandBesideIt) {
  const Json value = Json::object({{"command", Json::array({"sh", 1, "\xFE"})}});
  EXPECT_EQ(value.text(),
            "{\"command\":[\"sh\",1,\"\uFFFD\"],\"command_base64\":[\"c2g=\",null,\"/g==\"]}");
}

TEST(Json, ReadsTheBytesThatItWrote) {
  for (const bool indented : {false, true}) {
    const Json value = Json::object({{"name", "a\xFFz"},
                                     {"command", Json::array({"sh", 1, "\xFE"})},
                                     {"inside", Json::object({{"x", "\x80"}})}});
    const auto read = parse_json(value.text(indented));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read->find("name")->as_string(), "a\xFFz");
    EXPECT_EQ(*read->find("command")->as_array()->at(2).as_string(), "\xFE");
    EXPECT_EQ(*read->find("inside")->find("x")->as_string(), "\x80");
    EXPECT_EQ(read->find("name_base64"), nullptr);
    EXPECT_EQ(read->text(indented), value.text(indented));
  }
}

TEST(Json, OtherMembersOfSuchANameStayAsTheyAre) {
  for (const char* text :
       {R"({"a":"x","a_base64":"eA=="})", R"({"a":"x","a_base64":"no"})",
        R"({"a":1,"a_base64":"eA=="})", R"({"a":["x"],"a_base64":[]})", R"({"a_base64":"/w=="})"})
    EXPECT_EQ(parse_json(text)->text(), text);
}

}  // namespace
}  // namespace ebb::base
