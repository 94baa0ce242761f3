// SPDX-License-Identifier: Apache-2.0
#include "record/writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "record/runs.h"
#include "support/temporary_directory.h"

namespace ebb::record {
namespace {

TEST(Writer, WhatIsWrittenIsReadBack) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "a/b/runs.db";
  const record::Run run = run_named("nightly");
  const auto writer = begin(path, run);
  ASSERT_NE(writer, nullptr);
  writer->add(process_of(kMain));
  Process worker = process_of(kWorker, "worker \xf0\x9f\x90\x8b");
  worker.parent = kMain.pid;
  worker.seconds = 2;
  writer->add(worker);
  Sample sample = sample_of(kMain, 1.25, 700 * kMiB);
  sample.memory.file = 3 * kMiB;
  sample.memory.shmem = 2 * kMiB;
  sample.memory.swap = 1 * kMiB;
  sample.memory.pss = 600 * kMiB;
  sample.memory.retained = 50 * kMiB;
  sample.minor_faults = 1234;
  sample.cpu_seconds = 0.75;
  writer->add(sample);
  Sample bare;
  bare.process = kWorker;
  bare.seconds = 2.5;
  bare.memory.rss = 5;
  writer->add(bare);
  PlaceSample place;
  place.seconds = 1.25;
  place.used = 900 * kMiB;
  place.limit = run.limit;
  place.percent = 11.25;
  place.pressure_some = 0.5;
  place.gpu_used = 3;
  place.gpu_total = 4;
  writer->add(place);
  writer->add(Round{kMain, 3, 7});
  Action action;
  action.process = kMain;
  action.seconds = 3.001;
  action.cleanup.trigger = fact::Trigger::round;
  action.cleanup.before.rss = 700 * kMiB;
  action.cleanup.after.rss = 300 * kMiB;
  action.cleanup.returned = 400 * kMiB;
  action.cleanup.after.anon = 290 * kMiB;
  action.cleanup.seconds = 0.0285;
  action.cleanup.depth = fact::Depth::deep;
  writer->add(action);
  writer->add(Event{4, "warn", "85 % of the limit", kWorker});
  writer->add(Event{4, "normal", "", std::nullopt});
  writer->process_ended(kWorker, 5);
  writer->end(ended(run, 3));
  EXPECT_EQ(writer->take_trouble(), "");

  const RecordedRun found = read(path);
  EXPECT_EQ(found.summary.run.id, writer->run_id());
  EXPECT_EQ(found.summary.run.name, "nightly");
  EXPECT_EQ(found.summary.run.command, run.command);
  EXPECT_EQ(found.summary.run.role, "server");
  EXPECT_EQ(found.summary.run.host, "box");
  EXPECT_EQ(found.summary.run.started, run.started);
  EXPECT_EQ(found.summary.run.ended, run.started + 60);
  EXPECT_EQ(found.summary.run.exit_code, 3);
  EXPECT_FALSE(found.summary.run.signal);
  EXPECT_EQ(found.summary.run.ending, fact::RunEnd::exit);
  EXPECT_EQ(found.summary.run.limit, run.limit);
  EXPECT_EQ(found.summary.state, State::ended);
  EXPECT_EQ(found.summary.seconds, 5);
  EXPECT_EQ(found.summary.processes, 2U);
  EXPECT_EQ(found.summary.samples, 2U);
  EXPECT_EQ(found.summary.peak_process_rss, 700 * kMiB);
  EXPECT_EQ(found.summary.peak_rss, 700 * kMiB + 5);
  ASSERT_EQ(found.processes.size(), 2U);
  EXPECT_EQ(found.processes[1].process.command, worker.command);
  EXPECT_EQ(found.processes[1].process.parent, kMain.pid);
  EXPECT_EQ(found.processes[1].process.ended, 5);
  EXPECT_TRUE(found.processes[0].process.agent);
  ASSERT_EQ(found.processes[0].readings.size(), 1U);
  const Reading& reading = found.processes[0].readings[0];
  EXPECT_EQ(reading.seconds, 1.25);
  EXPECT_EQ(reading.rss->mean, 700 * kMiB);
  EXPECT_EQ(reading.anon->low, *sample.memory.anon);
  EXPECT_EQ(reading.swap->high, 1 * kMiB);
  EXPECT_EQ(reading.held_low, *sample.memory.anon + 1 * kMiB);
  EXPECT_EQ(reading.pss->mean, 600 * kMiB);
  EXPECT_EQ(reading.live->mean, 350 * kMiB);
  EXPECT_EQ(reading.retained->mean, 50 * kMiB);
  EXPECT_EQ(reading.minor_faults, 1234U);
  EXPECT_EQ(reading.cpu_seconds, 0.75);
  EXPECT_FALSE(found.processes[1].readings.at(0).live) << "what was not read is not there";
  ASSERT_EQ(found.place.size(), 1U);
  EXPECT_EQ(found.place[0].now.percent, 11.25);
  EXPECT_EQ(found.place[0].now.pressure_some, 0.5);
  EXPECT_EQ(found.place[0].now.gpu_used, 3U);
  EXPECT_FALSE(found.place[0].now.file_cache);
  ASSERT_EQ(found.rounds.size(), 1U);
  EXPECT_EQ(found.rounds[0].number, 7U);
  EXPECT_EQ(found.rounds[0].process, kMain);
  ASSERT_EQ(found.actions.size(), 1U);
  EXPECT_EQ(found.actions[0].cleanup, action.cleanup);
  ASSERT_EQ(found.events.size(), 2U);
  EXPECT_EQ(found.events[0].process, kWorker);
  EXPECT_FALSE(found.events[1].process);
}

TEST(Writer, AnEndThatComesDuringAWriteIsOnRecord) {
  const support::TemporaryDirectory folder;
  for (int i = 0; i < 20; ++i) {
    const std::string path = folder / (std::to_string(i) + ".db");
    const auto writer = begin(path, run_named("brief"));
    ASSERT_NE(writer, nullptr);
    writer->add(sample_of(kMain, 1, kMiB));  // which wakes the thread that writes
    for (int pause = 0; pause < 5 * i; ++pause)
      std::this_thread::yield();
    writer->end(ended(run_named("brief"), 3));
    ASSERT_EQ(read(path).summary.run.exit_code, 3) << i;
  }
}

TEST(Writer, CleanupsOfOneMomentKeepTheirReasons) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("busy"));
  ASSERT_NE(writer, nullptr);
  using fact::Trigger;
  for (const Trigger trigger : {Trigger::critical, Trigger::job, Trigger::job, Trigger::round,
                                Trigger::job, Trigger::critical}) {
    Action action;
    action.process = kMain;
    action.seconds = 3.001;
    action.cleanup.trigger = trigger;
    action.cleanup.returned = kMiB;
    writer->add(action);
  }
  writer->end(ended(run_named("busy")));
  std::map<Trigger, std::uint64_t> counts;
  std::uint64_t returned = 0;
  for (const Action& action : read(path).actions) {
    counts[action.cleanup.trigger] += action.count;
    returned += action.cleanup.returned;
    EXPECT_NEAR(action.seconds, 3.001, 0.003);
  }
  EXPECT_EQ(counts, (std::map<Trigger, std::uint64_t>{
                        {Trigger::critical, 2}, {Trigger::job, 3}, {Trigger::round, 1}}));
  EXPECT_EQ(returned, 6 * kMiB);
}

TEST(Writer, CleanupsKeepWhatDevicesGaveBack) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("card"));
  ASSERT_NE(writer, nullptr);
  Action action;
  action.process = kMain;
  action.seconds = 3;
  writer->add(action);
  action.seconds = 4;
  action.cleanup.add(base::DeviceChange::between(0, 20 * kMiB, kMiB));
  action.cleanup.add(base::DeviceChange::between(1, 5, 5));
  writer->add(action);
  writer->end(ended(run_named("card")));
  const auto actions = read(path).actions;
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_TRUE(actions[0].cleanup.devices.empty());
  EXPECT_EQ(actions[1].cleanup.devices, action.cleanup.devices);
}

TEST(Writer, OnlyTheOwnerMayReadTheFile) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "state/runs.db";
  begin(path, run_named("mine"))->end(ended(run_named("mine")));
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat((folder / "state").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST(Writer, PeaksOfAllProcessesAreOfOneMoment) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("moves"));
  for (int i = 0; i < 4; ++i) {
    // What one gives up the other takes: never more than 11 MiB at once.
    writer->add(sample_of(kMain, i, (i % 2 == 0 ? 10 : 1) * kMiB));
    writer->add(sample_of(kWorker, i, (i % 2 == 0 ? 1 : 10) * kMiB));
  }
  writer->process_ended(kWorker, 4);
  writer->add(sample_of(kMain, 5, 10 * kMiB));
  writer->end(ended(run_named("moves")));
  EXPECT_EQ(read(path).summary.peak_rss, 11 * kMiB);
}

TEST(Writer, ARunIsReadableWhileItIsWritten) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("long"));
  EXPECT_EQ(read(path, "long").summary.state, State::running);
  for (int i = 0;; ++i) {
    writer->add(sample_of(kMain, i, kMiB));
    const RecordedRun found = read(path, "long");
    EXPECT_EQ(found.summary.state, State::running);
    if (!found.processes.empty() && !found.processes[0].readings.empty()) break;
    std::this_thread::yield();
  }
  EXPECT_EQ(opened(path).remove({writer->run_id()}).error().code, base::Code::bad_input);
  writer->end(ended(run_named("long")));
  EXPECT_EQ(read(path, "long").summary.state, State::ended);
}

TEST(Writer, ClocksThatJumpAndNumbersThatAreNoneDoNoHarm) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("odd");
  run.started = -5;
  run.interval = std::numeric_limits<double>::quiet_NaN();
  const auto writer = begin(path, run);
  for (const double seconds : {5.0, 1.0, 1.0, -3.0, 1e300, std::nan(""), 2.0})
    writer->add(sample_of(kMain, seconds, ~std::uint64_t{0}));
  run.ended = run.started - 100;
  writer->end(run);
  const RecordedRun found = read(path);
  EXPECT_EQ(integrity(path), "ok");
  double before = -1;
  for (const Reading& reading : found.processes.at(0).readings) {
    EXPECT_GT(reading.seconds, before) << "in order of time, each time once";
    before = reading.seconds;
  }
}

TEST(Writer, ManyThreadsMayAdd) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("threads"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      const ProcessKey key{100 + t, 1};
      for (int i = 0; i < 500; ++i)
        writer->add(sample_of(key, i, kMiB));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  writer->end(ended(run_named("threads")));
  const RecordedRun found = read(path);
  ASSERT_EQ(found.processes.size(), 4U);
  for (const ProcessHistory& process : found.processes)
    EXPECT_EQ(process.readings.size(), 500U);
}

TEST(Writer, WithoutAnEndingTheRunHasNone) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  begin(path, run_named("dropped")).reset();
  EXPECT_FALSE(read(path).summary.run.ended);
}

TEST(Writer, LongTextIsCutBetweenCharacters) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("words");
  run.command.assign(1000, std::string(100, 'x'));
  const auto writer = begin(path, run);
  std::string whales;
  for (int i = 0; i < 300; ++i)
    whales += "\xf0\x9f\x90\x8b";
  writer->add(process_of(kMain, "x" + whales));
  writer->end(ended(run));
  const RecordedRun found = read(path);
  EXPECT_LT(found.summary.run.command.size(), 50U);
  const std::string& kept = found.processes.at(0).process.command;
  EXPECT_EQ(kept, "x" + whales.substr(0, kept.size() - 1));
  EXPECT_EQ(kept.size() % 4, 1U);
  EXPECT_GT(kept.size(), 200U);
}

}  // namespace
}  // namespace ebb::record
