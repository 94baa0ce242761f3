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

}  // namespace
}  // namespace ebb::cache
