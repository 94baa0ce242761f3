// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cache/fixture.h"
#include "cache/snapshot.h"

namespace ebb::cache {
namespace {

TEST(Expandable, GrowsOneRangeAndUnmapsWholeFreePages) {
  World world("expandable_segments:True");
  world.allocate(1);
  const Address base = world.allocate(5 * kMiB);
  EXPECT_EQ(world.current(Metric::reserved_bytes), static_cast<std::int64_t>(22 * kMiB));
  const Address middle = world.allocate(30 * kMiB);
  EXPECT_EQ(middle, base + 5 * kMiB);
  EXPECT_EQ(world.allocate(5 * kMiB), base + 35 * kMiB);
  world.free(middle);
  const Address high = world.allocate(40 * kMiB);
  EXPECT_EQ(high, base + 40 * kMiB);
  world.free(base);
  world.free(high);
  world.happened();
  world.empty_cache();
  EXPECT_EQ(world.happened(), (Lines{"segment_unmap 20971520", "segment_unmap 41943040"}));
  EXPECT_EQ(world.current(Metric::reserved_bytes), static_cast<std::int64_t>(22 * kMiB));
  EXPECT_EQ(world.current(Metric::segment), 0) << "only plain segments are counted";
  EXPECT_EQ(world.current(Metric::inactive_split), 0);
}

TEST(Expandable, TheLimitIsCheckedWithTheSegmentSizeNotWithWhatIsMapped) {
  World world("expandable_segments:True");
  world.set_limit(100 * kMiB);
  world.free(world.allocate(70 * kMiB));
  EXPECT_EQ(world.core->reserved(), 80 * kMiB);
  EXPECT_NE(world.allocate(100 * kMiB), 0U);
  EXPECT_EQ(world.core->stats().num_alloc_retries, 1);
  EXPECT_EQ(world.allocate(kMiB + 1), 0U);
  EXPECT_EQ(world.core->stats().num_alloc_retries, 2);
  EXPECT_EQ(world.core->stats().num_ooms, 1);
}

TEST(Expandable, ASmallRequestChecksTheWholeTwentyMebibytes) {
  World world("expandable_segments:True");
  world.set_limit(110 * kMiB);
  world.allocate(100 * kMiB);
  EXPECT_EQ(world.allocate(2 * kMiB), 0U);
}

TEST(Expandable, APageIsTheConfiguredLargeSegment) {
  World world("expandable_segments:True,large_segment_size_mb:50");
  world.allocate(2 * kMiB);
  EXPECT_EQ(world.core->reserved(), 50 * kMiB);
}

TEST(Expandable, AMappingThatFailsLeavesEarlierOnesMapped) {
  device::SimOptions sim;
  sim.total_memory = kGiB;
  World world("expandable_segments:True", 11, sim);
  const Address first = world.allocate(5 * kMiB);
  world.driver.inject({.call = device::Call::map, .times = 1});
  world.driver.inject({.call = device::Call::synchronize, .times = 1});
  EXPECT_NE(world.allocate(100 * kMiB), 0U) << "the second attempt maps";
  EXPECT_EQ(world.core->stats().num_alloc_retries, 1);
  world.free(first);
}

TEST(Expandable, AnotherErrorThanFullMemoryIsPassedOn) {
  World world("expandable_segments:True");
  world.driver.inject({.call = device::Call::map, .code = base::Code::io, .native = 999});
  EXPECT_EQ(world.allocate(5 * kMiB), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::driver_error);
  EXPECT_EQ(world.core->last_failure().driver.native, 999);
  EXPECT_EQ(world.core->stats().num_ooms, 0);
  world.driver.clear_faults();
  EXPECT_NE(world.allocate(5 * kMiB), 0U);
}

TEST(Expandable, StaysOffWhereTheDeviceCannot) {
  device::SimOptions sim;
  sim.virtual_memory = false;
  World world("expandable_segments:True", 11, sim);
  world.allocate(5 * kMiB);
  EXPECT_EQ(world.happened()[0], "segment_alloc 20971520");
}

TEST(Expandable, TurnedOffItsBlocksAreSkippedAndTurnedOnPlainOnesAreUsed) {
  World world("expandable_segments:True");
  const Address mapped = world.allocate(20 * kMiB);
  world.free(mapped);
  world.core->apply(*parse_settings("expandable_segments:False", world.core->profile()));
  const Address plain = world.allocate(20 * kMiB);
  EXPECT_NE(plain, mapped);
  EXPECT_EQ(world.current(Metric::segment), 1);
  world.free(plain);
  world.core->apply(*parse_settings("expandable_segments:True", world.core->profile()));
  EXPECT_EQ(world.allocate(20 * kMiB), plain) << "what cannot grow is used up first";
  EXPECT_EQ(world.allocate(20 * kMiB), mapped);
}

TEST(Expandable, SnapshotShowsOneEntryForEachMappedRun) {
  World world("expandable_segments:True");
  const Address a = world.allocate(20 * kMiB);
  const Address b = world.allocate(20 * kMiB);
  const Address c = world.allocate(20 * kMiB);
  world.free(b);
  world.empty_cache();
  const auto segments = segments_of(*world.core);
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].address, a);
  EXPECT_EQ(segments[1].address, c);
  EXPECT_TRUE(segments[0].expandable);
  EXPECT_EQ(segments[1].total_size, 20 * kMiB);
}

TEST(Expandable, AReserveShrinksTheRangeAndARequestBeyondItFails) {
  World world("expandable_segments:True,expandable_segments_reserve:100M", 15);
  EXPECT_NE(world.allocate(90 * kMiB), 0U);
  EXPECT_NE(world.allocate(90 * kMiB), 0U) << "a second range";
  EXPECT_EQ(world.allocate(200 * kMiB), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::out_of_memory);
}

}  // namespace
}  // namespace ebb::cache
