// SPDX-License-Identifier: Apache-2.0
#include "story/site_history.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::story {
namespace {

using base::kMiB;
using Bytes = std::vector<std::uint64_t>;

constexpr record::ProcessKey kParent{42, 1};
constexpr record::ProcessKey kWorker{43, 1};

fact::SiteStack line(std::uint32_t number) {
  return {{"load", "/job/a.py", number, ""}};
}

record::RecordedRun looked_at(std::initializer_list<double> moments) {
  record::RecordedRun run;
  for (const double moment : moments)
    run.samplings.push_back({kParent, moment, 100 * kMiB, 10, 0, 0, 0});
  return run;
}

void add(record::RecordedRun& run, const record::ProcessKey& process, std::uint32_t number,
         std::initializer_list<std::pair<double, std::uint64_t>> bytes) {
  for (const auto& [moment, mib] : bytes)
    run.sites.push_back({process, moment, number, mib * kMiB, 0, 4});
}

TEST(SiteHistory, HasEachStackAtEachMoment) {
  record::RecordedRun run = looked_at({1, 2, 3});
  run.site_names = {{kParent, 1, 8, line(1)}, {kParent, 2, 9, line(2)}, {kParent, 2, 10, line(2)}};
  add(run, kParent, 8, {{1, 5}, {2, 6}, {3, 0}});
  add(run, kParent, 9, {{2, 20}, {3, 30}});
  add(run, kParent, 10, {{2, 1}, {3, 2}});
  const SiteHistory history = site_history_of(run);
  EXPECT_EQ(history.moments, (std::vector<double>{1, 2, 3}));
  ASSERT_EQ(history.stacks.size(), 2U) << "stacks that read alike are one";
  EXPECT_EQ(history.stacks[0].frames, line(2));
  EXPECT_EQ(history.stacks[0].bytes, (Bytes{0, 21 * kMiB, 32 * kMiB}));
  EXPECT_EQ(history.stacks[1].bytes, (Bytes{5 * kMiB, 6 * kMiB, 0}));
}

TEST(SiteHistory, HoldsNothingOnceAProcessHasEnded) {
  record::RecordedRun run = looked_at({1, 3, 5});
  for (const double moment : {1.5, 2.5})
    run.samplings.push_back({kWorker, moment, 10 * kMiB, 10, 0, 0, 0});
  add(run, kWorker, 8, {{1.5, 4}, {2.5, 9}});
  run.processes.resize(1);
  run.processes[0].process.pid = kWorker.pid;
  run.processes[0].process.start = kWorker.start;
  run.processes[0].process.ended = 3.5;
  const SiteHistory history = site_history_of(run);
  EXPECT_EQ(history.moments, (std::vector<double>{1, 1.5, 2.5, 3, 5}));
  ASSERT_EQ(history.stacks.size(), 1U);
  EXPECT_EQ(history.stacks[0].bytes, (Bytes{0, 4 * kMiB, 9 * kMiB, 9 * kMiB, 0}));
}

TEST(SiteHistory, LeavesOutHowAProgramTakesItselfApartAlsoWhereNobodySawItsEnd) {
  record::RecordedRun run = looked_at({1, 2, 3});
  run.samplings.back().bytes = 0;
  add(run, kParent, 8, {{1, 5}, {2, 6}, {3, 0}});
  run.processes.resize(1);
  run.processes[0].process.pid = kParent.pid;
  run.processes[0].process.start = kParent.start;
  EXPECT_EQ(site_history_of(run).moments.size(), 3U) << "it goes on";
  run.summary.run.ended = 3.5;
  const SiteHistory history = site_history_of(run);
  EXPECT_EQ(history.moments, (std::vector<double>{1, 2}));
  EXPECT_EQ(history.stacks.at(0).bytes, (Bytes{5 * kMiB, 6 * kMiB}));
}

TEST(SiteHistory, OfAProcessThatBecameAnotherProgramForgetsTheFirst) {
  record::RecordedRun run = looked_at({1, 2});
  add(run, kParent, 8, {{1, 5}});
  add(run, kParent, 2097160, {{2, 7}});
  run.site_names = {{kParent, 1, 8, line(1)}, {kParent, 2, 2097160, line(2)}};
  for (const HeldOverTime& one : site_history_of(run).stacks)
    EXPECT_EQ(one.bytes, one.frames == line(1) ? (Bytes{5 * kMiB, 0}) : (Bytes{0, 7 * kMiB}));
}

TEST(SiteHistory, IsBoundedAndKeepsBothEnds) {
  record::RecordedRun run;
  for (int second = 0; second < 240; ++second) {
    run.samplings.push_back({kParent, double(second), 500 * kMiB, 10, 0, 0, 0});
    for (std::uint32_t site = 0; site < 410; ++site)
      run.sites.push_back({kParent, double(second), site, (site + 1) * kMiB / 2, 0, 4});
  }
  for (std::uint32_t site = 0; site < 410; ++site)
    run.site_names.push_back({kParent, 0, site, line(site)});
  const SiteHistory history = site_history_of(run);
  EXPECT_EQ(history.moments.size(), 120U);
  EXPECT_EQ(history.moments.front(), 0);
  EXPECT_EQ(history.moments.back(), 239);
  EXPECT_EQ(history.stacks.size(), 400U);
  EXPECT_EQ(history.stacks.front().frames, line(409)) << "the largest first";
}

TEST(SiteHistory, OfARunWithoutSitesIsEmpty) {
  const SiteHistory history = site_history_of({});
  EXPECT_TRUE(history.moments.empty() && history.stacks.empty());
}

}  // namespace
}  // namespace ebb::story
