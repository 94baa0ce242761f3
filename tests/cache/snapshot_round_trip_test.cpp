// SPDX-License-Identifier: Apache-2.0
// What the allocator writes, the snapshot reader reads back.
#include <gtest/gtest.h>

#include "cache/fixture.h"
#include "cache/snapshot.h"
#include "cache/snapshot_pickle.h"
#include "trace/initial_state.h"
#include "trace/snapshot_reader.h"

namespace ebb::cache {
namespace {

/// Blocks of all states in segments of both pools, on two streams, with an out of memory and an
/// annotation.
Snapshot busy_snapshot(World& world, std::vector<Address>& live) {
  for (std::uint64_t i = 1; i <= 40; ++i) {
    live.push_back(world.allocate(i * i * 3001, i % 3 == 0 ? 5 : 0));
  }
  for (std::size_t i = 0; i < 40; i += 2) {
    world.free(live[i]);
    live[i] = 0;
  }
  std::erase(live, Address{0});
  Snapshot snapshot;
  add_device(snapshot, *world.core);
  snapshot.annotations.push_back({"step", true, 0, 12});
  snapshot.annotations.push_back({"step", false, 0, 34});
  return snapshot;
}

void expect_equal(const trace::Snapshot& read, const Snapshot& written) {
  ASSERT_EQ(read.segments.size(), written.segments.size());
  for (std::size_t i = 0; i < read.segments.size(); ++i) {
    const trace::Segment& a = read.segments[i];
    const SnapshotSegment& b = written.segments[i];
    EXPECT_EQ(
        std::tuple(a.device, a.address, a.size, a.stream, a.small, a.pool, a.expandable),
        std::tuple(b.device, b.address, b.total_size, b.stream, b.small, b.pool, b.expandable));
    ASSERT_EQ(a.blocks.size(), b.blocks.size());
    for (std::size_t j = 0; j < a.blocks.size(); ++j) {
      EXPECT_EQ(std::tuple(a.blocks[j].address, a.blocks[j].size, a.blocks[j].requested,
                           a.blocks[j].state),
                std::tuple(b.blocks[j].address, b.blocks[j].size, b.blocks[j].requested_size,
                           b.blocks[j].state));
    }
  }
  ASSERT_EQ(read.traces.size(), written.device_traces.size());
  ASSERT_EQ(read.traces[0].size(), written.device_traces[0].size());
  const int minor = written.profile.minor;
  for (std::size_t i = 0; i < read.traces[0].size(); ++i) {
    const trace::Event& a = read.traces[0][i];
    const TraceEntry& b = written.device_traces[0][i];
    EXPECT_EQ(std::tuple(a.action, a.address, a.size, read.streams[a.stream]),
              std::tuple(b.action, b.address, b.size, b.stream));
    EXPECT_EQ(a.time_us, minor >= 2 ? b.time_us : 0);
    EXPECT_EQ(read.pools[a.pool], minor >= 12 ? b.pool : PoolId{});
    EXPECT_EQ(a.text == trace::kNone ? "" : read.texts[a.text], "");
  }
}

TEST(SnapshotRoundTrip, IsExactForEveryVersion) {
  for (int minor = kOldestMinor; minor <= kNewestMinor; ++minor) {
    for (const char* settings : {"", "expandable_segments:True",
                                 "max_split_size_mb:64,garbage_collection_threshold:0.6"}) {
      World world(settings, minor);
      world.set_limit(400 * kMiB);
      std::vector<Address> live;
      const Snapshot written = busy_snapshot(world, live);
      const auto read = trace::parse_snapshot(pickle_of(written), "file");
      ASSERT_TRUE(read) << read.error().message;
      expect_equal(*read, written);
      EXPECT_LE(read->oldest_minor, minor);
      EXPECT_GE(read->newest_minor, std::min(minor, read->newest_minor));
      EXPECT_LE(read->oldest_minor, read->newest_minor);
      EXPECT_EQ(read->has_times, minor >= 2);
      EXPECT_EQ(read->has_pool_ids, minor >= 12);
      EXPECT_EQ(read->settings.has_value(), minor >= 3);
      if (read->settings) {
        EXPECT_EQ(read->settings->conf, settings);
        EXPECT_EQ(read->settings->expandable_segments, written.settings.expandable_segments);
        EXPECT_EQ(read->settings->garbage_collection_threshold,
                  written.settings.garbage_collection_threshold);
        EXPECT_EQ(read->settings->has_graph_reuse, minor >= 9);
        EXPECT_EQ(read->settings->has_max_cached, minor >= 13);
      }
      EXPECT_EQ(read->annotations.size(), minor >= 5 ? 2U : 0U);
      EXPECT_TRUE(trace::initial_state(*read, 0).empty());
      for (const Address address : live) {
        world.free(address);
      }
    }
  }
}

TEST(SnapshotRoundTrip, KeepsOutOfMemoryPrivatePoolsAndPendingFrees) {
  World world("", 14);
  world.set_limit(kMiB);
  EXPECT_EQ(world.core->allocate(100, 0), 0U);
  Snapshot written;
  add_device(written, *world.core);
  const auto read = trace::parse_snapshot(pickle_of(written), "file");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->traces[0].size(), 1U);
  EXPECT_EQ(read->traces[0][0].action, trace::Action::oom);
  EXPECT_EQ(read->traces[0][0].address, written.device_traces[0][0].address);
  expect_equal(*read, written);
}

}  // namespace
}  // namespace ebb::cache
