// SPDX-License-Identifier: Apache-2.0
#include "term/table.h"

#include <gtest/gtest.h>

namespace ebb::term {
namespace {

TEST(Table, LinesUpColumnsByWhatPeopleSee) {
  Table table({{"name", Align::left}, {"rss"}});
  table.add_row({"glibc", "5.0 MiB"});
  table.add_row({"größe", Style{true, true}.paint("12", Colour::red)});
  table.add_row({"only one"});
  EXPECT_EQ(table.text(),
            "name          rss\n"
            "glibc     5.0 MiB\n"
            "größe          \033[31m12\033[0m\n"
            "only one\n");
}

TEST(Table, CutsCellsThatAreTooWide) {
  Table table({{"name", Align::left}, {"rss"}});
  table.add_row({std::string(100'000, 'x'), "1"});
  table.add_row({Style{true, true}.paint(std::string(100'000, 'y'), Colour::red), "2"});
  EXPECT_EQ(table.text(), "name" + std::string(199, ' ') + "rss\n" + std::string(200, 'x') +
                              "…    1\n\033[31m" + std::string(200, 'y') + "\033[0m…    2\n");
}

TEST(Table, IsAlsoMarkdown) {
  Table table({{"a", Align::left}, {"bytes"}});
  table.add_row({"x", "1"});
  EXPECT_EQ(table.markdown(),
            "| a | bytes |\n"
            "|-----|------:|\n"
            "| x |     1 |\n");
}

TEST(Style, PaintsOnlyWhereSomebodyWatches) {
  EXPECT_EQ((Style{}.paint("x", Colour::red)), "x");
  EXPECT_EQ((Style{true, true}.paint("x", Colour::none)), "x");
  EXPECT_EQ((Style{true, true}.paint("x", Colour::green)), "\033[32mx\033[0m");
}

TEST(DisplayWidth, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("\033[1mab\033[0m"), 2U);
  EXPECT_EQ(display_width("\033[1"), 0U);
}

TEST(Bar, FillsInEighthsAndKeepsItsWidth) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██  ");
  EXPECT_EQ(bar(7, 4), "████") << "never longer than asked";
  for (double share = 0; share <= 1; share += 0.01)
    EXPECT_EQ(display_width(bar(share, 7)), 7U);
}

}  // namespace
}  // namespace ebb::term
