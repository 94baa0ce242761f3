// SPDX-License-Identifier: Apache-2.0
#include "run/self_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "record/store.h"
#include "support/temporary_directory.h"

namespace ebb::run {
namespace {

fact::ProcessSample holding(std::uint64_t rss, std::uint64_t live, std::uint64_t retained) {
  fact::ProcessSample memory;
  memory.rss = rss;
  memory.live = live;
  memory.retained = retained;
  return memory;
}

TEST(SelfRecord, HoldsTheProcessItsRoundsAndHowItEnded) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "runs.db";
  record::Run run;
  run.name = "nightly";
  run.started = 1'700'000'000;
  {
    SelfRecord record(path, run, "a job");
    ASSERT_GT(record.run_id(), 0);
    record.add({0, holding(1000, 600, 300), 0});
    record.add({1, holding(900, 600, 200), 100});
    record.warn("85 % of the limit is used");
    record.mark("[RSS] SV s=simulator r=1 end: 1.0 MB");
    record.end(1);
  }
  auto store = record::Store::open(path);
  ASSERT_TRUE(store);
  const auto found = store->find("nightly");
  ASSERT_TRUE(found);
  const auto read = store->read(found->run.id);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->summary.run.ending, fact::RunEnd::exit);
  EXPECT_EQ(read->summary.run.exit_code, 1);
  ASSERT_EQ(read->processes.size(), 1u);
  EXPECT_EQ(read->processes[0].process.pid, ::getpid());
  EXPECT_EQ(read->processes[0].process.command, "a job");
  EXPECT_EQ(read->rounds.size(), 2u);
  ASSERT_EQ(read->actions.size(), 1u);
  EXPECT_EQ(read->actions[0].cleanup.trigger, fact::Trigger::round);
  EXPECT_EQ(read->actions[0].cleanup.before.rss, 1000u);
  EXPECT_EQ(read->actions[0].cleanup.after.rss, 900u);
  ASSERT_EQ(read->events.size(), 2u);
  EXPECT_EQ(read->events[0].kind, "warn");
  EXPECT_EQ(read->events[1].kind, name_of(record::EventKind::marker));
  EXPECT_EQ(read->events[1].text, "[RSS] SV s=simulator r=1 end: 1.0 MB");
}

TEST(SelfRecord, RecordsNothingWithoutAPath) {
  SelfRecord record("", {}, "a job");
  record.add(SelfRecord::Round{});
  record.end(0);
  EXPECT_EQ(record.run_id(), 0);
}

}  // namespace
}  // namespace ebb::run
