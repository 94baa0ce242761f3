// SPDX-License-Identifier: Apache-2.0
#include "story/process_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "story/job.h"

namespace ebb::story {
namespace {

using base::kMiB;

TEST(ProcessLedger, IsMadeOfReadingsAtWhichTheAllocatorSaidWhatItHolds) {
  Job job(10);
  job.add(7, "a", {level(100), growing(10, 1), level(5), level(30)});
  job.batch().samples[9].memory.live.reset();
  record::RecordedRun run = job.recorded();
  record::ProcessHistory& history = run.processes.at(0);
  const auto readings = comparable_readings(history);
  ASSERT_EQ(readings.size(), 9U);
  EXPECT_EQ(ledger_at(*readings[3], {}).live, 13 * kMiB);
  EXPECT_EQ(ledger_of(history, {}), ledger_at(*readings.back(), {}));
  for (record::Reading& reading : history.readings)
    reading.live.reset();
  EXPECT_EQ(comparable_readings(history).size(), 10U) << "it never did";
  history.readings[0].rss.reset();
  EXPECT_EQ(comparable_readings(history).size(), 9U) << "without rss nothing adds up";
  history.readings.clear();
  EXPECT_TRUE(comparable_readings(history).empty());
}

TEST(ProcessLedger, AddsUpToTheMeanOfMergedReadings) {
  Job job(10);
  job.add(7, "a", {growing(100, 10), rounds(10, 50, 4), level(5), level(30)});
  record::RecordedRun run = job.recorded();
  std::vector<record::Reading>& readings = run.processes.at(0).readings;
  for (std::size_t i = 1; i < readings.size(); ++i)
    merge(readings[0], readings[i]);
  const fact::Ledger ledger = ledger_at(readings[0], {});
  EXPECT_EQ(ledger.total, readings[0].rss->mean);
  std::uint64_t sum = 0;
  for (const fact::Ledger::Part& part : ledger.parts())
    sum += part.bytes.value_or(0);
  EXPECT_EQ(sum, *ledger.total);
}

TEST(ProcessLedger, WhatAPrivateAllocatorHeldBeforeItWasLastHeardOfIsNotKnown) {
  Job job(10);
  const auto key = job.add(7, "a", {level(100), level(10), level(5)});
  job.batch().beside.push_back({key, 6, {"jemalloc", "lib.so", "", true, 20 * kMiB, kMiB}});
  job.batch().beside.push_back({{8, 1}, 6, {"mimalloc", "other.so", "", true}});
  const record::RecordedRun run = job.recorded();
  const record::Reading& reading = run.processes.at(0).readings.at(5);
  const auto before = private_allocators_at(run, key, 5);
  ASSERT_EQ(before.size(), 1U);
  EXPECT_FALSE(ledger_at(reading, before).private_allocators);
  const auto then = private_allocators_at(run, key, 6);
  EXPECT_EQ(then, private_allocators_of(run, key));
  const fact::Ledger ledger = ledger_at(reading, then);
  EXPECT_EQ(ledger.private_allocators, 21 * kMiB);
  EXPECT_EQ(*ledger.unexplained + 21 * kMiB, *ledger_at(reading, before).unexplained);
}

TEST(ProcessLedger, HasWhatMappingsToldAndSaysHowOldThatIs) {
  Job job(100);
  const auto key = job.add(7, "a", {level(100), level(10), level(5)});
  fact::MappedParts parts;
  parts.stacks = 3 * kMiB;
  parts.python = 40 * kMiB;
  job.batch().mapped.push_back({{8, 1}, 99, {}});
  job.batch().mapped.push_back({key, 59, parts});
  const record::RecordedRun run = job.recorded();
  const record::ProcessHistory& history = run.processes.at(0);
  const auto mapped = mapped_of(run, key);
  ASSERT_TRUE(mapped);
  const fact::Ledger before = ledger_of(history, {});
  const fact::Ledger ledger = ledger_of(history, {}, mapped);
  EXPECT_EQ(ledger.python, 40 * kMiB);
  EXPECT_EQ(ledger.stacks, 3 * kMiB);
  EXPECT_FALSE(ledger.pinned);
  EXPECT_EQ(*ledger.unexplained + 43 * kMiB, *before.unexplained);
  const std::string age = "python, stacks: as of 40.0 s before";
  EXPECT_NE(std::find(ledger.notes.begin(), ledger.notes.end(), age), ledger.notes.end());
  const fact::Ledger then = ledger_at(history.readings.at(59), {}, mapped);
  EXPECT_TRUE(then.notes.empty()) << then.notes.front();
  EXPECT_FALSE(mapped_of(run, {9, 1}));
}

}  // namespace
}  // namespace ebb::story
