// SPDX-License-Identifier: Apache-2.0
// However long runs last and however many there are: the file stays small, and the lowest values,
// which verdicts rest on, stay exact.
#include "record/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "record/rows.h"
#include "record/runs.h"
#include "record/schema.h"
#include "support/effort.h"
#include "support/temporary_directory.h"

namespace ebb::record {
namespace {

constexpr std::uint64_t kFileSlack = 16 * base::kMiB;

RunFile begin_file(const std::string& path, const record::Run& run, const FileBounds& bounds = {}) {
  auto file = RunFile::begin(path, run, bounds);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

void write(RunFile& file, const Batch& batch) {
  const auto done = file.write(batch);
  ASSERT_TRUE(done) << done.error().message;
}

std::int64_t rows_of(const std::string& path, const char* sql) {
  auto database = open_for_reading(path);
  EXPECT_TRUE(database);
  return database->number(sql);
}

/// A value that goes up and down, the same for the same moment.
std::uint64_t value_at(std::int64_t process, double seconds) {
  const double wave = std::sin(seconds * 0.7 + static_cast<double>(process)) +
                      std::sin(seconds * 0.00013 * static_cast<double>(process + 1));
  return static_cast<std::uint64_t>((300 + 100 * wave) * 1048576);
}

TEST(Thinning, MergedSamplesKeepTheirLowestMeanAndHighest) {
  Reading all = reading_of(sample_of(kMain, 1, 10));
  for (const std::uint64_t rss : {40U, 30U, 20U}) {
    Sample sample = sample_of(kMain, static_cast<double>(rss), rss);
    sample.memory.live.reset();
    merge(all, reading_of(sample));
  }
  EXPECT_EQ(all.rss, (Extent{10, 25, 40}));
  EXPECT_EQ(all.count, 4U);
  EXPECT_EQ(all.seconds, 1);
  EXPECT_EQ(all.until, 40);
  EXPECT_EQ(all.live, (Extent{5, 5, 5})) << "known once";
}

TEST(Thinning, WhatIsHeldIsTheLowestSumAndNotTheSumOfTheLowest) {
  Sample in_memory = sample_of(kMain, 1, 100);
  in_memory.memory.anon = 100;
  in_memory.memory.swap = 0;
  Sample swapped_out = sample_of(kMain, 2, 20);
  swapped_out.memory.anon = 20;
  swapped_out.memory.swap = 90;
  Reading both = reading_of(in_memory);
  merge(both, reading_of(swapped_out));
  EXPECT_EQ(both.held_low, 100U);
}

TEST(Thinning, ALongRunKeepsItsFloorsInFewRows) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("long");
  // Three years of three processes, in steps of half an hour or of an hour.
  run.interval = support::trials(4000, 2000);
  constexpr int kProcesses = 3;
  constexpr double kLength = 1e8;
  RunFile file = begin_file(path, run);
  std::map<int, std::vector<Sample>> truth;
  double seconds = 0;
  while (seconds < kLength) {
    Batch batch;
    for (int i = 0; i < 1500; ++i, seconds += run.interval) {
      for (int p = 0; p < kProcesses; ++p) {
        Sample sample = sample_of({p + 1, 1}, seconds, value_at(p, seconds));
        batch.samples.push_back(sample);
        truth[p].push_back(sample);
      }
      PlaceSample place;
      place.seconds = seconds;
      place.used = value_at(7, seconds);
      place.limit = run.limit;
      batch.places.push_back(place);
    }
    write(file, batch);
    EXPECT_LE(rows_of(path, "SELECT count(*) FROM samples"), kRunning.samples + 2 * kPiece);
    EXPECT_LE(rows_of(path, "SELECT count(*) FROM buckets"), kRunning.buckets);
    EXPECT_LE(rows_of(path, "SELECT count(*) FROM place"), kRunning.places + 1500);
  }
  ASSERT_TRUE(file.finish(ended(run)));
  EXPECT_LT(std::filesystem::file_size(path), kFileSlack);

  const RecordedRun found = read(path);
  ASSERT_EQ(found.processes.size(), static_cast<std::size_t>(kProcesses));
  for (int p = 0; p < kProcesses; ++p) {
    const auto& readings = found.processes[static_cast<std::size_t>(p)].readings;
    const std::vector<Sample>& samples = truth[p];
    std::size_t next = 0;
    for (const Reading& reading : readings) {
      std::uint64_t low = UINT64_MAX, high = 0, count = 0;
      double sum = 0;
      for (; next < samples.size() && samples[next].seconds <= reading.until; ++next, ++count) {
        low = std::min(low, *samples[next].memory.rss);
        high = std::max(high, *samples[next].memory.rss);
        sum += static_cast<double>(*samples[next].memory.rss);
      }
      ASSERT_EQ(reading.count, count) << "every sample is in one bucket";
      ASSERT_EQ(reading.rss->low, low);
      ASSERT_EQ(reading.rss->high, high);
      ASSERT_NEAR(static_cast<double>(reading.rss->mean), sum / static_cast<double>(count), 64);
    }
    EXPECT_EQ(next, samples.size());
    EXPECT_EQ(readings.back().count, 1U) << "the newest are as they were";
    EXPECT_GT(readings.front().count, 4U);
    EXPECT_LE(readings.front().until - readings.front().seconds, kLength / 256)
        << "the beginning is still told apart";
  }
  std::uint64_t places = 0, most_used = 0;
  for (const PlaceReading& place : found.place) {
    places += place.count;
    most_used = std::max(most_used, place.now.used);
  }
  EXPECT_EQ(places, truth[0].size());
  EXPECT_GT(most_used, 480 * kMiB);
}

TEST(Thinning, WhatIsNotKnownStaysSo) {
  const support::TemporaryDirectory folder;
  auto database = open_for_writing(folder / "runs.db", 1000);
  ASSERT_TRUE(database) << database.error().message;
  Sample unknown;
  unknown.seconds = 1;
  insert(*database, 1, 2, unknown);
  insert(*database, 1, NumberedReading{2, reading_of(unknown)});
  insert(*database, 1, NumberedAction{2, Action{}});
  ASSERT_FALSE(database->failed()) << database->take_failure().message;
  for (const auto& found : {read_samples(*database, 1), read_buckets(*database, 1, 2)}) {
    ASSERT_EQ(found.size(), 1U);
    for (const Part& part : kParts)
      EXPECT_FALSE(found[0].reading.*part.merged) << part.name;
  }
  const auto actions = read_actions(*database, 1);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].action.cleanup, fact::Cleanup{});
}

TEST(Thinning, AReasonThatThisEbbDoesNotKnowIsSaidToBeUnknown) {
  const support::TemporaryDirectory folder;
  auto database = open_for_writing(folder / "runs.db", 1000);
  ASSERT_TRUE(database) << database.error().message;
  insert(*database, 1, NumberedAction{2, Action{}});
  ASSERT_TRUE(database->script("UPDATE actions SET reason = 'moonlight'"));
  EXPECT_EQ(read_actions(*database, 1).at(0).action.cleanup.trigger, fact::Trigger::unknown);
}

TEST(Thinning, RoundsActionsAndEventsAreBoundedAndAddUp) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("rounds");
  RunFile file = begin_file(path, run);
  const auto rounds = static_cast<std::uint64_t>(support::trials(20'000, 50'000));
  for (std::uint64_t i = 1; i <= rounds;) {
    Batch batch;
    for (int k = 0; k < 1000; ++k, ++i) {
      const auto seconds = static_cast<double>(i);
      batch.rounds.push_back({kMain, seconds, i});
      Action action;
      action.process = kMain;
      action.seconds = seconds;
      action.cleanup.trigger = fact::Trigger::round;
      action.cleanup.returned = 10;
      action.cleanup.seconds = 0.001;
      action.cleanup.after.anon = 1000 + i;
      batch.actions.push_back(action);
      batch.events.push_back({seconds, "warn", std::to_string(i), std::nullopt});
    }
    write(file, batch);
  }
  ASSERT_TRUE(file.finish(ended(run)));
  const RecordedRun found = read(path);
  EXPECT_EQ(found.summary.rounds, rounds);
  EXPECT_LE(found.rounds.size(), static_cast<std::size_t>(kRunning.rounds) + 1000);
  EXPECT_GT(found.rounds.size(), static_cast<std::size_t>(kRunning.rounds) / 4);
  EXPECT_EQ(found.rounds[1].number - found.rounds[0].number,
            found.rounds[2].number - found.rounds[1].number);
  EXPECT_LE(found.actions.size(), static_cast<std::size_t>(kRunning.actions) + 1000);
  std::uint64_t returned = 0, count = 0;
  double cost = 0;
  for (const Action& action : found.actions) {
    returned += action.cleanup.returned;
    count += action.count;
    cost += action.cleanup.seconds;
  }
  EXPECT_EQ(count, rounds);
  EXPECT_EQ(returned, 10 * rounds);
  EXPECT_NEAR(cost, 0.001 * static_cast<double>(rounds), 1e-6);
  EXPECT_EQ(found.actions.front().cleanup.after.anon, 1001U) << "the lowest of what was merged";
  EXPECT_LE(found.events.size(), static_cast<std::size_t>(kRunning.events) + 1000);
  EXPECT_EQ(found.events.front().text, "1");
  EXPECT_EQ(found.events.back().text, std::to_string(rounds));
}

TEST(Thinning, MarkersDoNotPushOtherEventsOut) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("markers");
  RunFile file = begin_file(path, run);
  for (int i = 0; i < 20; ++i) {
    Batch batch;
    for (int marker = 0; marker < 500; ++marker)
      batch.events.push_back(
          {i + marker / 500.0, name_of(EventKind::marker), std::to_string(i), std::nullopt});
    batch.events.push_back({i + 1.0, "warn", std::to_string(i), std::nullopt});
    write(file, batch);
  }
  ASSERT_TRUE(file.finish(ended(run)));
  const RecordedRun found = read(path);
  std::vector<std::string> warnings, markers;
  for (const Event& event : found.events)
    (event.is(EventKind::marker) ? markers : warnings).push_back(event.text);
  EXPECT_EQ(warnings.size(), 20U);
  EXPECT_LE(markers.size(), static_cast<std::size_t>(kRunning.events) / 2 + 1000);
  EXPECT_EQ(markers.front(), "0");
  EXPECT_EQ(markers.back(), "19");
}

TEST(Thinning, ShortLivedProcessesAreForgottenFirst) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("children");
  RunFile file = begin_file(path, run);
  std::int32_t pid = 10;
  for (int i = 0; i < 100; ++i) {
    Batch batch;
    batch.processes.push_back(process_of(kMain, "parent"));
    batch.samples.push_back(sample_of(kMain, i, 99 * kMiB));
    for (int k = 0; k < 100; ++k, ++pid) {
      const ProcessKey child{pid, 7};
      Process process = process_of(child, "child");
      process.seconds = i;
      batch.processes.push_back(process);
      batch.samples.push_back(sample_of(child, i, kMiB));
      batch.ended.emplace_back(child, i + 0.5);
    }
    write(file, batch);
  }
  ASSERT_TRUE(file.finish(ended(run)));
  const RecordedRun found = read(path);
  EXPECT_EQ(found.summary.processes, 10'001U) << "all are counted";
  EXPECT_LE(found.processes.size(), static_cast<std::size_t>(2 * kRunning.processes));
  const auto parent =
      std::find_if(found.processes.begin(), found.processes.end(),
                   [](const ProcessHistory& one) { return one.process.command == "parent"; });
  ASSERT_NE(parent, found.processes.end());
  EXPECT_EQ(parent->readings.size(), 100U);
  EXPECT_EQ(rows_of(path,
                    "SELECT count(*) FROM samples WHERE process NOT IN "
                    "(SELECT process FROM processes)"),
            0);
}

/// A finished run of one process with a sample every `step` seconds, in few transactions.
void record_run(const std::string& path, const std::string& name, int seconds, int step,
                const FileBounds& bounds) {
  record::Run run = run_named(name);
  RunFile file = begin_file(path, run, bounds);
  Batch batch;
  for (int i = 0; i < seconds; i += step)
    batch.samples.push_back(sample_of(kMain, i, value_at(1, i)));
  write(file, batch);
  ASSERT_TRUE(file.finish(ended(run)));
}

TEST(Thinning, AHundredMillionSecondsOfRunsDoNotFillADisk) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  // A hundredth of the seconds and of the room, in larger steps.
  constexpr FileBounds kBounds{256 * base::kMiB / 100, 60};
  constexpr int kSeconds = 10'000;
  constexpr int kStep = 5;
  const int all = support::trials(70, 100);
  std::uint64_t largest = 0;
  for (int i = 0; i < all; ++i) {
    record_run(path, "run" + std::to_string(i), kSeconds, kStep, kBounds);
    largest = std::max<std::uint64_t>(largest, std::filesystem::file_size(path));
  }
  // The newest run comes on top, and so do the pages of the pieces not done yet.
  EXPECT_LT(largest, kBounds.bytes + 2 * base::kMiB);
  Store store = opened(path);
  const auto runs = store.runs();
  ASSERT_TRUE(runs);
  EXPECT_LE(std::ssize(*runs), kBounds.runs + 1);
  EXPECT_GT(runs->size(), 40U);
  EXPECT_EQ(runs->front().run.name, "run" + std::to_string(all - 1));
  EXPECT_EQ(runs->back().peak_rss, runs->front().peak_rss) << "the row keeps the peak";
  std::int64_t before = 0;
  for (const RunSummary& one : *runs) {
    EXPECT_GE(one.detail, before) << "older ones have less detail";
    before = one.detail;
    const auto whole = store.read(one.run.id);
    ASSERT_TRUE(whole);
    if (one.detail == kLeastDetail) {
      EXPECT_TRUE(whole->processes.empty());
      continue;
    }
    std::uint64_t low = UINT64_MAX, count = 0;
    for (const Reading& reading : whole->processes.at(0).readings) {
      low = std::min(low, reading.rss->low);
      count += reading.count;
      std::uint64_t lowest = UINT64_MAX;
      for (int s = static_cast<int>(reading.seconds); s <= static_cast<int>(reading.until);
           s += kStep)
        lowest = std::min(lowest, value_at(1, s));
      ASSERT_EQ(reading.rss->low, lowest) << "the floor of every bucket is exact";
    }
    EXPECT_EQ(count, static_cast<std::uint64_t>(kSeconds / kStep));
  }
  EXPECT_GT(before, 0) << "something had to be thinned";
}

TEST(Thinning, ARunThatIsUnderWayKeepsItsDetail) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  constexpr FileBounds kBounds{base::kMiB, 3};
  RunFile running = begin_file(path, run_named("running"), kBounds);
  Batch batch;
  for (int i = 0; i < 3000; ++i)
    batch.samples.push_back(sample_of(kMain, i, kMiB));
  write(running, batch);
  for (int i = 0; i < 10; ++i)
    record_run(path, "other", 3000, 1, kBounds);
  const RecordedRun found = read(path, "running");
  EXPECT_EQ(found.summary.detail, 0);
  EXPECT_EQ(found.processes.at(0).readings.size(), 3000U);
}

}  // namespace
}  // namespace ebb::record
