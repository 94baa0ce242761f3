// SPDX-License-Identifier: Apache-2.0
#include "show/side_by_side.h"

#include <gtest/gtest.h>

namespace ebb::show {
namespace {

/// A run whose only process grows by a mebibyte in each of `seconds`.
ToldRun told_run(std::int64_t id, int seconds) {
  ToldRun told;
  told.run.summary.run.id = id;
  told.run.summary.run.name = "trial";
  told.run.summary.run.command = {"python3", "train.py"};
  told.run.summary.seconds = seconds;
  record::ProcessHistory history;
  history.process.pid = 4242;
  history.process.start = 5000;
  for (int i = 0; i < seconds; ++i) {
    record::Reading reading;
    reading.seconds = reading.until = i;
    const std::uint64_t bytes = static_cast<std::uint64_t>(100 + i) << 20;
    reading.rss = record::Extent{bytes, bytes, bytes};
    history.readings.push_back(reading);
  }
  told.run.processes.push_back(history);
  told.story = story::story_of(told.run);
  return told;
}

TEST(SideBySide, HasARowPerRunWithALinkToIt) {
  const page::Document page = side_by_side_page({told_run(3, 60), told_run(5, 30)});
  ASSERT_EQ(page.tables.size(), 1U);
  const page::Table& table = page.tables[0];
  ASSERT_EQ(table.rows.size(), 2U);
  for (const auto& row : table.rows)
    EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(*table.rows[1][0].find("path")->as_string(), "5") << "it stands beside this page";
}

TEST(SideBySide, DrawsRunsInTheSamePlots) {
  const page::Document page = side_by_side_page({told_run(3, 60), told_run(5, 30)});
  ASSERT_FALSE(page.plots.empty());
  for (const page::Plot& plot : page.plots) {
    ASSERT_EQ(plot.lines.size(), 2U) << plot.title;
    EXPECT_EQ(plot.lines[0].name, "3: trial");
    EXPECT_GT(plot.lines[0].x.back(), plot.lines[1].x.back());
  }
}

TEST(SideBySide, ARunThatWasNeverLookedAtHasARowAndNoLine) {
  const page::Document page = side_by_side_page({told_run(3, 60), told_run(5, 0)});
  EXPECT_EQ(page.tables[0].rows.size(), 2U);
  for (const page::Plot& plot : page.plots)
    EXPECT_EQ(plot.lines.size(), 1U) << plot.title;
}

}  // namespace
}  // namespace ebb::show
