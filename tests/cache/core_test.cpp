// SPDX-License-Identifier: Apache-2.0
#include "cache/core.h"

#include <gtest/gtest.h>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

TEST(Core, ServesSmallRequestsFromTwoMebibyteSegments) {
  World world;
  const Address first = world.allocate(1);
  EXPECT_EQ(world.core->size_of(first), 512U);
  EXPECT_EQ(world.current(Metric::reserved_bytes), 2097152);
  EXPECT_EQ(world.current(Metric::inactive_split), 1);
  EXPECT_EQ(world.current(Metric::inactive_split_bytes), 2096640);
  EXPECT_EQ(world.allocate(kMiB), first + 512);
  EXPECT_EQ(world.current(Metric::segment), 1);
}

TEST(Core, ServesMiddlingRequestsFromTwentyMebibyteSegments) {
  World world;
  const Address first = world.allocate(kMiB + 1);
  EXPECT_EQ(world.core->size_of(first), 1049088U);
  EXPECT_EQ(world.allocate(9 * kMiB), first + 1049088);
  EXPECT_EQ(world.current(Metric::reserved_bytes), static_cast<std::int64_t>(20 * kMiB));
}

TEST(Core, SizesSegmentsToRequestsFromTenMebibytesOn) {
  World world;
  world.allocate(10 * kMiB - 1);
  EXPECT_EQ(world.current(Metric::reserved_bytes), static_cast<std::int64_t>(10 * kMiB));
  const Address large = world.allocate(25 * kMiB + 1);
  EXPECT_EQ(world.core->size_of(large), 26 * kMiB) << "a megabyte or less is not split off";
}

TEST(Core, ZeroBytesAreNoAllocationAndNoFailure) {
  World world;
  EXPECT_EQ(world.allocate(0), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::none);
  EXPECT_EQ(world.current(Metric::allocation), 0);
  EXPECT_TRUE(world.happened().empty());
}

TEST(Core, AbsurdSizesFailWithoutTouchingAnything) {
  World world;
  EXPECT_EQ(world.allocate(kAbsurdSize), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::too_large);
  EXPECT_EQ(world.core->stats().num_ooms, 0);
  EXPECT_EQ(world.driver.calls(device::Call::allocate), 0U);
  EXPECT_EQ(world.allocate(kAbsurdSize - 1), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::out_of_memory);
  EXPECT_EQ(world.core->stats().num_ooms, 1);
}

TEST(Core, FreeMergesWithBothNeighbours) {
  World world;
  const Address a = world.allocate(kKiB);
  const Address b = world.allocate(kKiB);
  const Address c = world.allocate(kKiB);
  world.allocate(kKiB);
  world.free(a);
  world.free(c);
  EXPECT_EQ(world.current(Metric::inactive_split), 3);
  world.free(b);
  EXPECT_EQ(world.current(Metric::inactive_split), 2);
  EXPECT_EQ(world.allocate(3 * kKiB), a);
}

TEST(Core, FreeOfAnUnknownAddressIsRefused) {
  World world;
  const Address a = world.allocate(1000);
  EXPECT_FALSE(world.core->free(0));
  EXPECT_FALSE(world.core->free(a + 512));
  world.free(a);
  EXPECT_FALSE(world.core->free(a)) << "a second time";
}

TEST(Core, BestFitTakesTheSmallestBlockThatIsLargeEnough) {
  World world;
  const Address a = world.allocate(64 * kMiB);
  const Address b = world.allocate(32 * kMiB);
  const Address c = world.allocate(48 * kMiB);
  world.free(a);
  world.free(b);
  world.free(c);
  EXPECT_EQ(world.allocate(40 * kMiB), c);
  EXPECT_EQ(world.allocate(40 * kMiB), a);
  EXPECT_EQ(world.allocate(32 * kMiB), b);
}

TEST(Core, EqualSizesGoByAddressUpTo211AndByAgeOfTheSegmentFrom213) {
  for (const int minor : {11, 13}) {
    device::SimOptions sim;
    sim.addresses = device::AddressModel::descending();
    World world("", minor, sim);
    const Address older = world.allocate(32 * kMiB);
    const Address lower = world.allocate(32 * kMiB);
    ASSERT_LT(lower, older);
    world.free(older);
    world.free(lower);
    EXPECT_EQ(world.allocate(32 * kMiB), minor == 11 ? lower : older) << minor;
  }
}

TEST(Core, EqualSizesGoByAgeOfTheBlockObjectIn212) {
  World world("", 12);
  const Address a = world.allocate(12 * kMiB);
  const Address b = world.allocate(12 * kMiB);
  world.free(b);
  world.free(a);
  EXPECT_EQ(world.allocate(12 * kMiB), a) << "its object is the older one";
  world.free(a);
  // Splitting gives the front a new object, which is then the youngest although it lies lowest.
  EXPECT_EQ(world.allocate(10 * kMiB), a);
  world.free(a);
  EXPECT_EQ(world.allocate(12 * kMiB), b);
}

TEST(Core, BlocksOfOtherStreamsAreNeverUsed) {
  World world;
  world.free(world.allocate(32 * kMiB, 1));
  world.allocate(32 * kMiB, 2);
  EXPECT_EQ(world.current(Metric::segment), 2);
  world.allocate(32 * kMiB, 1);
  EXPECT_EQ(world.current(Metric::segment), 2);
}

TEST(Core, OversizeBlocksServeOnlyNearlyEqualRequests) {
  World world("max_split_size_mb:64");
  const Address large = world.allocate(100 * kMiB);
  world.free(large);
  world.allocate(60 * kMiB);
  EXPECT_EQ(world.current(Metric::segment), 2) << "a small request leaves it alone";
  EXPECT_EQ(world.allocate(81 * kMiB), large);
  EXPECT_EQ(world.core->size_of(large), 100 * kMiB) << "whole";
  world.free(large);
  const Address other = world.allocate(79 * kMiB);
  EXPECT_NE(other, large) << "100 MiB is 79 MiB and 20 MiB or more";
  EXPECT_EQ(world.core->size_of(other), 80 * kMiB);
  EXPECT_EQ(world.core->stats().oversize_allocations.current, 1);
  EXPECT_EQ(world.core->stats().oversize_segments.current, 2);
}

TEST(Core, ABlockOfExactlyTheSlackMoreIsRefused) {
  World world("max_split_size_mb:64");
  const Address large = world.allocate(100 * kMiB);
  world.free(large);
  EXPECT_EQ(world.allocate(80 * kMiB + 512), large);
  world.free(large);
  EXPECT_NE(world.allocate(80 * kMiB), large);
}

TEST(Core, EmptyCacheKeepsSegmentsThatArePartlyInUse) {
  World world;
  const Address kept = world.allocate(kMiB);
  world.free(world.allocate(5 * kMiB));
  world.free(world.allocate(40 * kMiB));
  world.empty_cache();
  EXPECT_EQ(world.current(Metric::reserved_bytes), static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(world.core->stats().num_sync_all_streams, 1);
  EXPECT_EQ(world.core->stats().num_device_free, 2);
  world.free(kept);
}

TEST(Core, NewSettingsHoldForWhatComesNext) {
  World world;
  world.free(world.allocate(100 * kMiB));
  auto settings = parse_settings("max_split_size_mb:64", world.core->profile());
  world.core->apply(*settings);
  world.allocate(60 * kMiB);
  EXPECT_EQ(world.current(Metric::segment), 2);
  EXPECT_EQ(world.core->stats().max_split_size, -1) << "as configured at the start";
}

TEST(Core, AnUnknownDeviceIsAnError) {
  device::SimDriver driver({});
  EXPECT_FALSE(Core::create(driver, 1, {}));
}

TEST(Core, AHitNeedsNoDriverCall) {
  World world;
  world.free(world.allocate(5 * kMiB));
  const auto calls = [&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < device::kCallKinds; ++i) {
      sum += world.driver.calls(static_cast<device::Call>(i));
    }
    return sum;
  };
  const std::uint64_t before = calls();
  for (int i = 0; i < 100; ++i) {
    world.free(world.allocate(5 * kMiB));
  }
  EXPECT_EQ(calls(), before);
}

}  // namespace
}  // namespace ebb::cache
