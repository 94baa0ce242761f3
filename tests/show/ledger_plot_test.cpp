// SPDX-License-Identifier: Apache-2.0
#include "show/ledger_plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "show/report_page.h"
#include "story/job.h"
#include "story/process_ledger.h"

namespace ebb::show {
namespace {

using story::growing;
using story::Job;
using story::level;
using story::rounds;

std::vector<std::string> names_in(const page::Plot& plot) {
  std::vector<std::string> names;
  for (const page::Line& line : plot.lines)
    names.push_back(line.name);
  return names;
}

double sum_at(const page::Plot& plot, std::size_t place) {
  double sum = 0;
  for (const page::Line& line : plot.lines)
    if (std::isfinite(line.y.at(place))) sum += line.y.at(place);
  return sum;
}

std::map<std::size_t, page::Plot> plots_of(const record::RecordedRun& run) {
  return ledger_plots(run, story::story_of(run));
}

TEST(LedgerPlot, PartsAddUpToRssAndSwapAtEachMoment) {
  Job job(60);
  const auto key =
      job.add(7, "a", {rounds(300, 200, 10), growing(100, 2), level(50), level(30), level(9)});
  for (record::Sample& sample : job.batch().samples)
    sample.memory.swap = static_cast<std::uint64_t>(sample.seconds) << 20U;
  job.batch().beside.push_back({key, 40, {"jemalloc", "lib.so", "", true, 20U << 20U, 1U << 20U}});
  const record::RecordedRun run = job.recorded();
  const auto plots = plots_of(run);
  ASSERT_EQ(plots.size(), 1U);
  const page::Plot& plot = plots.at(0);
  EXPECT_TRUE(plot.stacked);
  EXPECT_EQ(names_in(plot), (std::vector<std::string>{"live", "retained", "private", "shared",
                                                      "file", "unexplained"}));
  const auto& readings = run.processes.at(0).readings;
  ASSERT_EQ(plot.lines[0].x.size(), readings.size());
  for (std::size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(plot.lines[5].x[i], readings[i].seconds);
    EXPECT_EQ(sum_at(plot, i), double(readings[i].rss->mean + readings[i].swap->mean));
    EXPECT_EQ(std::isfinite(plot.lines[2].y[i]), readings[i].seconds >= 40);
  }
  EXPECT_NE(plot.note.find("What is private is known from 40"), std::string::npos) << plot.note;
}

TEST(LedgerPlot, ManyReadingsAreThinnedAndStillAddUp) {
  Job job(9000);
  job.add(7, "a", {rounds(300, 200, 7), rounds(100, 90, 11), level(50), level(30)});
  const record::RecordedRun run = job.recorded();
  const page::Plot plot = plots_of(run).at(0);
  EXPECT_LE(plot.lines[0].x.size(), 2000U);
  std::map<double, double> totals;
  for (const record::Reading& reading : run.processes.at(0).readings)
    totals[reading.middle()] = double(reading.rss->mean);
  double highest = 0;
  for (std::size_t i = 0; i < plot.lines[0].x.size(); ++i) {
    ASSERT_EQ(sum_at(plot, i), totals.at(plot.lines[0].x[i]));
    highest = std::max(highest, sum_at(plot, i));
  }
  const auto most = std::max_element(totals.begin(), totals.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  EXPECT_EQ(highest, most->second);
}

TEST(LedgerPlot, AProcessWithoutReadingsOrWithOnePartHasNone) {
  Job job(60);
  job.add(7, "looked at once", {level(900), level(100), level(50)}, 0, 1);
  job.add(8, "no agent", {level(800)});
  job.add(9, "no agent, but files", {level(700), {}, {}, level(30)});
  job.add(10, "with an agent", {level(600), level(100), level(50)});
  record::RecordedRun run = job.recorded();
  const auto plots = plots_of(run);
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(names_in(plots.at(2)),
            (std::vector<std::string>{"live", "retained", "file", "unexplained"}))
      << "the same in all, so that colours mean the same";
  EXPECT_TRUE(std::isnan(plots.at(2).lines[0].y[0]));
  EXPECT_EQ(names_in(plots.at(3)), names_in(plots.at(2)));
  for (record::ProcessHistory& history : run.processes)
    history.readings.clear();
  EXPECT_TRUE(plots_of(run).empty());
}

TEST(LedgerPlot, StandsBelowThePlotOfItsProcess) {
  Job job(60);
  for (std::int32_t pid = 1; pid <= 6; ++pid)
    job.add(pid, "a", {level(100.0 * pid), level(10), level(5)});
  const record::RecordedRun run = job.recorded();
  const page::Document page = page_of_run(run, story::story_of(run));
  ASSERT_GE(page.plots.size(), 10U);
  for (std::size_t i = 0; i < 8; i += 2)
    EXPECT_EQ(page.plots[i + 1].title,
              "Where the memory of p" + page.plots[i].title.substr(1) + " is");
  EXPECT_FALSE(page.plots[8].stacked || page.plots[9].stacked) << "of the four largest";
}

}  // namespace
}  // namespace ebb::show
