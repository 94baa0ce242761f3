// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

TEST(History, TellsWhatHappenedInPyTorchsOrder) {
  World world;
  world.free(world.allocate(100));
  EXPECT_EQ(world.happened(), (Lines{"segment_alloc 2097152", "alloc 100", "free_requested 100",
                                     "free_completed 100"}));
}

TEST(History, KeepsTheLastEntriesOldestFirst) {
  World world;
  world.core->record_history({.max_entries = 3, .clear = true});
  for (std::uint64_t bytes = 1; bytes <= 5; ++bytes) {
    world.allocate(bytes);
  }
  EXPECT_EQ(world.happened(), (Lines{"alloc 3", "alloc 4", "alloc 5"}));
}

TEST(History, ASmallerLimitOnlyNarrowsThePartThatIsWrittenOver) {
  TraceBuffer buffer;
  buffer.set_capacity(4);
  const auto append = [&](std::uint64_t size) {
    TraceEntry entry;
    entry.size = size;
    buffer.append(entry);
  };
  for (std::uint64_t i = 0; i < 4; ++i) {
    append(i);
  }
  buffer.set_capacity(2);
  append(10);
  append(11);
  append(12);
  std::vector<std::uint64_t> sizes;
  for (const TraceEntry& entry : buffer.entries()) {
    sizes.push_back(entry.size);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{11, 2, 3, 12}));
}

TEST(History, IsClearedWhenSwitchedOffFrom23On) {
  for (const int minor : {2, 3}) {
    World world("", minor);
    world.allocate(1);
    world.core->record_history({.enabled = false});
    EXPECT_EQ(world.core->history().empty(), minor == 3);
  }
}

TEST(History, LeavesOutSkippedActions) {
  World world;
  world.core->record_history({.skipped = {Action::free_requested, Action::segment_alloc}});
  world.free(world.allocate(100));
  EXPECT_EQ(world.happened(), (Lines{"alloc 100", "free_completed 100"}));
}

TEST(History, CarriesTheTime) {
  static std::int64_t now;
  now = 1000;
  CoreOptions options;
  options.unix_time_us = [] { return now++; };
  World world("", 14, {}, options);
  world.allocate(100);
  const std::vector<TraceEntry> entries = world.core->history();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].time_us, 1000);
  EXPECT_EQ(entries[1].time_us, 1001);
}

class Counting final : public TraceSink {
 public:
  void on_entry(const TraceEntry&) override { ++entries; }
  int entries = 0;
};

TEST(History, ASinkSeesEveryEntryWithoutABuffer) {
  Counting sink;
  World world;
  world.core->record_history({.enabled = false});
  world.core->set_trace_sink(&sink);
  world.free(world.allocate(100));
  EXPECT_EQ(sink.entries, 4);
  EXPECT_TRUE(world.core->history().empty());
  world.core->set_trace_sink(nullptr);
  world.allocate(100);
  EXPECT_EQ(sink.entries, 4);
}

TEST(HistoryByItself, IsOnWhileItRecordsOrHasASink) {
  History history(nullptr);
  EXPECT_FALSE(history.is_on());
  Counting sink;
  history.set_sink(&sink);
  EXPECT_TRUE(history.is_on());
  history.note(Action::alloc, 512, 100, 0, {});
  EXPECT_EQ(sink.entries, 1);
  EXPECT_TRUE(history.entries().empty());
  history.record({});
  history.set_sink(nullptr);
  EXPECT_TRUE(history.is_on());
  history.record({.enabled = false});
  EXPECT_FALSE(history.is_on());
}

TEST(HistoryByItself, KeepsWhatItWasToldAndWhen) {
  History history([]() -> std::int64_t { return 77; });
  history.record({.skipped = {Action::free_requested}});
  history.note(Action::alloc, 512, 100, 7, {0, 3});
  history.note(Action::free_requested, 512, 100, 7, {0, 3});
  std::vector<TraceEntry> entries = history.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].action, Action::alloc);
  EXPECT_EQ(entries[0].address, 512U);
  EXPECT_EQ(entries[0].size, 100U);
  EXPECT_EQ(entries[0].stream, 7U);
  EXPECT_EQ(entries[0].pool, (PoolId{0, 3}));
  EXPECT_EQ(entries[0].time_us, 77);
  history.record({.enabled = false});
  EXPECT_EQ(history.entries().size(), 1U);
  history.record({.clear = true});
  EXPECT_TRUE(history.entries().empty());
}

}  // namespace
}  // namespace ebb::cache
