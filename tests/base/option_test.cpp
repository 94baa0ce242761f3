// SPDX-License-Identifier: Apache-2.0
#include "base/option.h"

#include <cmath>

namespace ebb::base {
namespace {

enum class Colour : std::uint8_t { red, blue };

const char* name_of(Colour colour) {
  return colour == Colour::red ? "red" : "blue";
}

Result<Colour> colour_from(std::string_view name) {
  if (name == "red") return Colour::red;
  if (name == "blue") return Colour::blue;
  return error(Code::bad_input, "colour '%s'", std::string(name).c_str());
}

struct Paint {
  bool shiny = false;
  std::uint32_t coats = 2;
  double share = 0.5;
  std::string maker = "nobody";
  std::vector<std::string> rooms;
  std::optional<double> dries;
  std::optional<std::uint64_t> size;
  std::uint32_t painters = 0;
  int spare = 1;
  Option::Numbers parts;
  Colour colour = Colour::red;
};

Options options_of(Paint& p) {
  return {
      {"shiny", &p.shiny, "Shines"},
      {"coats", &p.coats, "Coats", {}, &kOneOrMore},
      {"share", &p.share, "Share", {}, &kShare},
      {"maker", &p.maker, "Maker"},
      {"rooms", &p.rooms, "Rooms", "rooms,--rooms"},
      {"dries", &p.dries, "Hours"},
      {"size", Bytes{&p.size}, "Size"},
      {"painters", CountOrAuto{&p.painters}, "Painters"},
      {"spare_tins", &p.spare, "Tins"},
      {"parts", &p.parts, ""},
      {"colour", choice<colour_from>(p.colour), "Colour"},
  };
}

std::string refusal(const Status& status) {
  if (status) return "none";
  EXPECT_EQ(status.error().code, Code::bad_input);
  return status.error().message;
}

TEST(Options, EveryKindComesBackFromJson) {
  const std::string text =
      R"({"shiny":true,"coats":3,"share":0.25,"maker":"a","rooms":["hall","attic"],"dries":1.5,)"
      R"("size":4096,"painters":"auto","spare_tins":7,"parts":{"oil":0.5},"colour":"blue"})";
  const auto json = parse_json(text);
  ASSERT_TRUE(json);
  Paint paint;
  const Options options = options_of(paint);
  Json written = Json::object();
  for (const Option& option : options) {
    const Status read = set(option, *json->find(option.key));
    EXPECT_TRUE(read) << read.error().message;
    written.set(option.key, to_json(option));
  }
  EXPECT_EQ(written.text(), text);
  EXPECT_EQ(paint.colour, Colour::blue);
}

TEST(Options, EveryKindIsReadFromACommandLine) {
  Paint paint;
  const Options options = options_of(paint);
  for (const auto& [key, text] :
       {std::pair{"coats", "3"}, std::pair{"share", "0.25"}, std::pair{"maker", "a"},
        std::pair{"rooms", "hall"}, std::pair{"rooms", "attic"}, std::pair{"dries", "1.5"},
        std::pair{"size", "4KiB"}, std::pair{"painters", "4"}, std::pair{"spare_tins", "7"},
        std::pair{"shiny", "true"}, std::pair{"colour", "blue"}})
    EXPECT_EQ(refusal(set_text(*find(options, key), text)), "none") << key;
  EXPECT_TRUE(paint.shiny);
  EXPECT_EQ(paint.coats, 3U);
  EXPECT_EQ(paint.rooms, (std::vector<std::string>{"hall", "attic"}));
  EXPECT_EQ(paint.dries, 1.5);
  EXPECT_EQ(paint.size, 4096U);
  EXPECT_EQ(paint.painters, 4U);
  EXPECT_EQ(paint.spare, 7);
  EXPECT_EQ(refusal(set_text(*find(options, "painters"), "auto")), "none");
  EXPECT_EQ(paint.painters, 0U);
}

TEST(Options, AWrongValueIsRefusedWithTheNameThatItWasGivenUnder) {
  Paint paint;
  const Options options = options_of(paint);
  const auto of_text = [&](const char* key, const char* text) {
    return refusal(set_text(*find(options, key), text));
  };
  EXPECT_EQ(of_text("coats", "-1"), "--coats '-1': expected a whole number from 0 to 4294967295");
  EXPECT_EQ(of_text("coats", "4294967296"),
            "--coats '4294967296': expected a whole number from 0 to 4294967295");
  EXPECT_EQ(of_text("spare_tins", "2147483648"),
            "--spare-tins '2147483648': expected a whole number from 0 to 2147483647");
  EXPECT_EQ(of_text("share", "half"), "--share 'half': expected a number");
  EXPECT_EQ(of_text("painters", "0"), "--painters '0': expected a whole number from 1, or auto");
  EXPECT_EQ(of_text("size", "big"), "--size 'big': expected a number and a unit, such as 24GiB");
  EXPECT_EQ(of_text("colour", "green"), "colour 'green'");
  const auto of_json = [&](const char* key, const Json& json) {
    return refusal(set(*find(options, key), json));
  };
  EXPECT_EQ(of_json("shiny", 1), "shiny: 1, expected true or false");
  EXPECT_EQ(of_json("coats", 1.5), "coats: 1.5, expected a whole number from 0 to 4294967295");
  EXPECT_EQ(of_json("share", nullptr), "share: null, expected a number");
  EXPECT_EQ(of_json("dries", true), "dries: true, expected a number or null");
  EXPECT_EQ(of_json("rooms", Json::array({1})), "rooms: [1], expected a text or a list of texts");
  EXPECT_EQ(of_json("parts", Json::object({{"oil", "much"}})),
            "parts.oil: \"much\", expected a number");
  EXPECT_EQ(of_json("size", true), "size: true, expected bytes, e.g. 25769803776 or \"24GiB\"");
  EXPECT_EQ(of_json("colour", 3), "colour: 3, expected a name");
  EXPECT_EQ(paint.coats, 2U);
}

TEST(Options, RangesAreCheckedOnceAllIsSet) {
  Paint paint;
  EXPECT_EQ(refusal(check(options_of(paint))), "none");
  paint.coats = 0;
  EXPECT_EQ(refusal(check(options_of(paint))), "coats 0, expected at least 1");
  paint.coats = 1;
  paint.share = 1;
  EXPECT_EQ(refusal(check(options_of(paint))), "share 1, expected 0 or more and below 1");
  paint.share = std::nan("");
  EXPECT_EQ(refusal(check(options_of(paint))), "share nan, expected 0 or more and below 1");
}

TEST(Options, HelpListsTheChoicesAsAShellTakesThem) {
  std::string word;
  Option option{"name", &word, "A word"};
  EXPECT_EQ(help_text(option), "A word");
  option.choices = {"one"};
  EXPECT_EQ(help_text(option), "A word: one");
  option.choices = {"one", "two (2)", "three"};
  EXPECT_EQ(help_text(option), "A word: one, 'two (2)' or three");
}

TEST(Options, NamesAndDefaultsFollowFromTheTable) {
  Paint paint;
  const Options options = options_of(paint);
  EXPECT_EQ(find(options, "spare_tins")->names(), "--spare-tins");
  EXPECT_EQ(find(options, "rooms")->names(), "rooms,--rooms");
  EXPECT_EQ(find(options, "rooms")->name(), "rooms");
  EXPECT_EQ(find(options, "brush"), nullptr);
  EXPECT_EQ(default_text(*find(options, "coats")), "2");
  EXPECT_EQ(default_text(*find(options, "share")), "0.5");
  EXPECT_EQ(default_text(*find(options, "maker")), "nobody");
  EXPECT_EQ(default_text(*find(options, "painters")), "auto");
  EXPECT_EQ(default_text(*find(options, "colour")), "red");
  for (const char* key : {"shiny", "rooms", "dries", "size", "parts"})
    EXPECT_EQ(default_text(*find(options, key)), "") << key;
}

TEST(Options, WhatIsWrittenDownKeepsItsDefaultAndIsSetLater) {
  Paint paint;
  std::optional<std::string> text;
  const Option later = written_down(*find(options_of(paint), "coats"), text);
  EXPECT_EQ(default_text(later), "2");
  EXPECT_EQ(refusal(set_text(later, "many")), "none");
  EXPECT_EQ(paint.coats, 2U);
  EXPECT_EQ(text, "many");
}

}  // namespace
}  // namespace ebb::base
