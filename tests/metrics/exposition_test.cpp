// SPDX-License-Identifier: Apache-2.0
#include "metrics/exposition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ebb::metrics {
namespace {

constexpr Metric kHeight{"test_height_bytes", Kind::gauge, "bytes", "How high."};
constexpr Metric kSteps{"test_steps", Kind::counter, "", "How many."};
constexpr Metric kThing{"test_thing", Kind::info, "", "What it is."};
constexpr Metric kMood{"test_mood", Kind::state_set, "", "How it is."};

std::vector<Family> some() {
  Families families;
  families.add(kHeight, {{"run", "1"}}, 0.5);
  families.add(kSteps, {}, 3);
  families.add(kHeight, {{"run", "2"}}, 1ULL << 53);
  families.add(kThing, {{"name", "a\"b\\c\ne"}}, 1);
  families.add_state(kMood, {{"run", "1"}}, std::vector<const char*>{"good", "bad"}, "bad");
  return families.all();
}

TEST(Exposition, WritesPrometheusText) {
  EXPECT_EQ(text_of(some(), Format::text),
            "# HELP test_height_bytes How high.\n"
            "# TYPE test_height_bytes gauge\n"
            "test_height_bytes{run=\"1\"} 0.5\n"
            "test_height_bytes{run=\"2\"} 9007199254740992\n"
            "# HELP test_steps_total How many.\n"
            "# TYPE test_steps_total counter\n"
            "test_steps_total 3\n"
            "# HELP test_thing_info What it is.\n"
            "# TYPE test_thing_info gauge\n"
            "test_thing_info{name=\"a\\\"b\\\\c\\ne\"} 1\n"
            "# HELP test_mood How it is.\n"
            "# TYPE test_mood gauge\n"
            "test_mood{run=\"1\",test_mood=\"good\"} 0\n"
            "test_mood{run=\"1\",test_mood=\"bad\"} 1\n");
}

TEST(Exposition, WritesOpenMetrics) {
  EXPECT_EQ(text_of(some(), Format::open_metrics),
            "# HELP test_height_bytes How high.\n"
            "# TYPE test_height_bytes gauge\n"
            "# UNIT test_height_bytes bytes\n"
            "test_height_bytes{run=\"1\"} 0.5\n"
            "test_height_bytes{run=\"2\"} 9007199254740992\n"
            "# HELP test_steps How many.\n"
            "# TYPE test_steps counter\n"
            "test_steps_total 3\n"
            "# HELP test_thing What it is.\n"
            "# TYPE test_thing info\n"
            "test_thing_info{name=\"a\\\"b\\\\c\\ne\"} 1\n"
            "# HELP test_mood How it is.\n"
            "# TYPE test_mood stateset\n"
            "test_mood{run=\"1\",test_mood=\"good\"} 0\n"
            "test_mood{run=\"1\",test_mood=\"bad\"} 1\n"
            "# EOF\n");
}

TEST(Exposition, IsUtf8WhateverAProcessIsCalled) {
  Families families;
  families.add(kThing, {{"name", "a\xff\xc3 \xc3\xa9"}}, 1);
  for (const Format format : {Format::text, Format::open_metrics})
    EXPECT_NE(text_of(families.all(), format)
                  .find("test_thing_info{name=\"a\xef\xbf\xbd\xef\xbf\xbd \xc3\xa9\"} 1\n"),
              std::string::npos);
}

/// The lines that are values.
std::set<std::string> series_of(const std::string& text) {
  std::set<std::string> found;
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
    if (text[from] != '#') found.insert(text.substr(from, end - from));
  return found;
}

TEST(Exposition, BothTextsHaveTheSameSeries) {
  const std::vector<Family> families = some();
  const auto plain = series_of(text_of(families, Format::text));
  EXPECT_EQ(plain.size(), 6U);
  EXPECT_EQ(plain, series_of(text_of(families, Format::open_metrics)));
}

TEST(Exposition, IsWhatTheScraperWouldRatherHave) {
  const std::string prometheus =
      "application/openmetrics-text;version=1.0.0,application/"
      "openmetrics-text;version=0.0.1;q=0.75,"
      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  EXPECT_EQ(format_for(prometheus), Format::open_metrics);
  EXPECT_EQ(format_for("application/openmetrics-text"), Format::open_metrics);
  EXPECT_EQ(format_for("text/plain, application/openmetrics-text; version=1.0.0; q=0.5"),
            Format::text);
  for (const char* accept :
       {"", "*/*", "text/html", "text/plain;version=0.0.4", ";;,q=,;q=x",
        "application/openmetrics-text;q=0", "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text;q=nan"})
    EXPECT_EQ(format_for(accept), Format::text) << accept;
}

TEST(Families, LeaveOutWhatIsNotKnown) {
  Families families;
  families.add(kHeight, {}, std::nan(""));
  families.add(kHeight, {}, INFINITY);
  families.add(kHeight, {}, std::optional<std::uint64_t>());
  EXPECT_TRUE(families.all().empty());
}

}  // namespace
}  // namespace ebb::metrics
