// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

TEST(Limits, AFractionLimitsWhatIsTakenFromTheDriver) {
  World world;
  EXPECT_EQ(world.core->limit(), kUnlimited);
  world.set_limit(64 * kMiB);
  EXPECT_EQ(world.core->limit(), 64 * kMiB);
  EXPECT_NE(world.allocate(64 * kMiB), 0U) << "exactly the limit fits";
  EXPECT_EQ(world.allocate(512), 0U);
  EXPECT_TRUE(world.core->set_memory_fraction(1));
  EXPECT_NE(world.allocate(512), 0U);
}

TEST(Limits, AFractionOutsideZeroToOneIsRefused) {
  World world;
  EXPECT_FALSE(world.core->set_memory_fraction(-0.1));
  EXPECT_FALSE(world.core->set_memory_fraction(1.1));
  EXPECT_FALSE(world.core->set_memory_fraction(std::nan("")));
}

TEST(Limits, TheWholeDeviceIsALimitUpTo29Only) {
  World old("", 9);
  EXPECT_EQ(old.core->limit(), kUnlimited) << "before anybody asked";
  EXPECT_TRUE(old.core->set_memory_fraction(1));
  EXPECT_EQ(old.core->limit(), 80 * kGiB);
  World recent("", 10);
  EXPECT_TRUE(recent.core->set_memory_fraction(1));
  EXPECT_EQ(recent.core->limit(), kUnlimited);
}

TEST(Limits, BytesAreCutOffUpTo212AndRoundedLater) {
  device::SimOptions sim;
  sim.total_memory = 1000 * kMiB + 1;
  World cut("", 12, sim);
  World rounded("", 13, sim);
  const double fraction = 0.5;
  EXPECT_TRUE(cut.core->set_memory_fraction(fraction));
  EXPECT_TRUE(rounded.core->set_memory_fraction(fraction));
  EXPECT_EQ(cut.core->limit(), 500 * kMiB);
  EXPECT_EQ(rounded.core->limit(), 500 * kMiB + 1);
}

TEST(Limits, TheSettingsStringSetsTheFirstLimit) {
  World world("per_process_memory_fraction:0.5");
  EXPECT_EQ(world.core->limit(), 40 * kGiB);
}

TEST(Limits, AMissReleasesTheWholeCacheAndTriesOnceMore) {
  World world;
  world.set_limit(100 * kMiB);
  world.free(world.allocate(60 * kMiB, 1));
  world.free(world.allocate(512, 2));
  world.happened();
  EXPECT_NE(world.allocate(90 * kMiB), 0U);
  EXPECT_EQ(world.happened(), (Lines{"segment_free 62914560", "segment_free 2097152",
                                     "segment_alloc 94371840", "alloc 94371840"}));
  EXPECT_EQ(world.core->stats().num_alloc_retries, 1);
  EXPECT_EQ(world.core->stats().num_sync_all_streams, 1);
}

TEST(Limits, WithAMaximumSplitSizeOneLargeEnoughBlockIsReleasedFirst) {
  World world("max_split_size_mb:21");
  world.set_limit(200 * kMiB);
  const Address a = world.allocate(60 * kMiB);
  const Address b = world.allocate(120 * kMiB);
  world.free(a);
  world.free(b);
  world.happened();
  EXPECT_NE(world.allocate(90 * kMiB), 0U);
  EXPECT_EQ(world.happened(),
            (Lines{"segment_free 125829120", "segment_alloc 94371840", "alloc 94371840"}));
  EXPECT_EQ(world.core->stats().num_alloc_retries, 0);
}

TEST(Limits, OversizeBlocksAreReleasedLargestFirstUntilEnough) {
  World world("max_split_size_mb:21");
  world.set_limit(160 * kMiB);
  const Address a = world.allocate(30 * kMiB);
  const Address b = world.allocate(40 * kMiB);
  const Address c = world.allocate(50 * kMiB);
  world.free(a);
  world.free(b);
  world.free(c);
  world.happened();
  EXPECT_NE(world.allocate(85 * kMiB), 0U);
  EXPECT_EQ(world.happened(), (Lines{"segment_free 52428800", "segment_free 41943040",
                                     "segment_alloc 90177536", "alloc 89128960"}));
}

TEST(Limits, GarbageCollectionReleasesWhatWasIdleLongest) {
  World world("garbage_collection_threshold:0.5");
  world.set_limit(240 * kMiB);
  const Address old = world.allocate(40 * kMiB);
  const Address young = world.allocate(50 * kMiB);
  const Address kept = world.allocate(30 * kMiB);
  world.free(old);
  for (int i = 0; i < 10; ++i) {
    world.free(world.allocate(30 * kMiB, 1));
  }
  world.free(young);
  world.happened();
  world.allocate(60 * kMiB);
  const Lines lines = world.happened();
  EXPECT_EQ(lines[0], "segment_free 41943040");
  EXPECT_EQ(lines[1], "segment_alloc 62914560");
  world.free(kept);
}

TEST(Limits, WithoutALimitNothingIsCollected) {
  World world("garbage_collection_threshold:0.1");
  world.free(world.allocate(40 * kMiB));
  world.allocate(60 * kMiB);
  EXPECT_EQ(world.core->stats().num_device_free, 0);
}

TEST(Limits, APreemptiveRejectionStopsBeforeTheDriver) {
  device::SimOptions sim;
  sim.total_memory = kGiB;
  World world("throw_on_cudamalloc_oom:True", 12, sim);
  world.free(world.allocate(600 * kMiB));
  EXPECT_EQ(world.allocate(700 * kMiB), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::rejected);
  EXPECT_EQ(world.core->stats().num_oom_rejections, 1);
  EXPECT_EQ(world.core->stats().num_ooms, 0);
  EXPECT_EQ(world.core->stats().num_alloc_retries, 0);
}

TEST(Limits, ARealDriverThatIsFullLeadsThroughTheSameChain) {
  device::SimOptions sim;
  sim.total_memory = kGiB;
  World world("", 11, sim);
  world.free(world.allocate(600 * kMiB));
  EXPECT_NE(world.allocate(700 * kMiB), 0U);
  EXPECT_EQ(world.core->stats().num_alloc_retries, 1);
  EXPECT_EQ(world.allocate(700 * kMiB), 0U);
  EXPECT_EQ(world.core->stats().num_ooms, 1);
}

TEST(Limits, AnotherDriverErrorIsNoOutOfMemory) {
  World world;
  world.driver.inject({.call = device::Call::allocate, .times = 1, .code = base::Code::io});
  EXPECT_EQ(world.allocate(5 * kMiB), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::driver_error);
  EXPECT_EQ(world.core->stats().num_ooms, 0);
  EXPECT_EQ(world.core->stats().num_alloc_retries, 0);
  EXPECT_NE(world.allocate(5 * kMiB), 0U);
}

}  // namespace
}  // namespace ebb::cache
