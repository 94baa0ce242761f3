// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

TEST(Streams, AFreedBlockWaitsForTheStreamsThatUsedIt) {
  World world;
  const Address block = world.allocate(32 * kMiB);
  EXPECT_TRUE(world.core->record_stream(block, 7));
  world.free(block);
  EXPECT_EQ(world.current(Metric::allocation), 0);
  EXPECT_EQ(world.current(Metric::active), 1);
  EXPECT_EQ(world.current(Metric::requested_bytes), static_cast<std::int64_t>(32 * kMiB));
  EXPECT_NE(world.allocate(32 * kMiB), block);
  world.driver.complete_stream(0, 7);
  EXPECT_EQ(world.current(Metric::active), 2) << "looked at by the next allocation only";
  EXPECT_EQ(world.allocate(32 * kMiB), block);
  EXPECT_EQ(world.current(Metric::active), 2);
}

TEST(Streams, EveryUsingStreamHasToFinish) {
  World world;
  const Address block = world.allocate(32 * kMiB);
  world.core->record_stream(block, 7);
  world.core->record_stream(block, 8);
  world.core->record_stream(block, 7);
  world.free(block);
  EXPECT_EQ(world.driver.calls(device::Call::record_event), 2U);
  world.driver.complete_stream(0, 7);
  EXPECT_NE(world.allocate(32 * kMiB), block);
  world.driver.complete_stream(0, 8);
  EXPECT_EQ(world.allocate(32 * kMiB), block);
}

TEST(Streams, UseOnItsOwnStreamChangesNothing) {
  World world;
  const Address block = world.allocate(32 * kMiB, 3);
  EXPECT_TRUE(world.core->record_stream(block, 3));
  world.free(block);
  EXPECT_EQ(world.current(Metric::active), 0);
  EXPECT_FALSE(world.core->record_stream(block, 4)) << "not handed out any more";
}

TEST(Streams, EmptyCacheWaitsForEverybody) {
  World world;
  const Address block = world.allocate(32 * kMiB);
  world.core->record_stream(block, 7);
  world.free(block);
  world.empty_cache();
  EXPECT_EQ(world.core->reserved(), 0U);
  EXPECT_EQ(world.current(Metric::active), 0);
}

TEST(Streams, AfterReleasingEverythingTheCacheIsNotSearchedAgain) {
  World world;
  world.set_limit(30 * kMiB);
  const Address small = world.allocate(8 * kMiB);
  const Address block = world.allocate(8 * kMiB);
  world.core->record_stream(block, 7);
  world.free(block);
  EXPECT_EQ(world.allocate(9 * kMiB), 0U) << "its block was waited for, but belongs to a segment";
  EXPECT_NE(world.allocate(9 * kMiB), 0U) << "at once afterwards";
  world.free(small);
}

TEST(Streams, ActivePeaksCountWaitingBlocks) {
  World world;
  const Address a = world.allocate(2 * kMiB);
  world.core->record_stream(a, 7);
  world.free(a);
  world.allocate(2 * kMiB);
  EXPECT_EQ(world.core->stats()[Metric::active].all.peak, 2);
  EXPECT_EQ(world.core->stats()[Metric::allocation].all.peak, 1);
  EXPECT_EQ(world.core->stats()[Metric::active_bytes].large.peak,
            static_cast<std::int64_t>(4 * kMiB));
  world.core->reset_peaks();
  EXPECT_EQ(world.core->stats()[Metric::active].all.peak, 2);
  world.empty_cache();
  world.core->reset_peaks();
  EXPECT_EQ(world.core->stats()[Metric::active].all.peak, 1);
}

TEST(Streams, WithoutAnEventTheStreamItselfIsWaitedFor) {
  World world;
  const Address block = world.allocate(32 * kMiB);
  world.core->record_stream(block, 7);
  world.driver.inject({.call = device::Call::record_event, .times = 1, .code = base::Code::io});
  world.free(block);
  EXPECT_EQ(world.driver.calls(device::Call::synchronize_stream), 1U);
  EXPECT_EQ(world.current(Metric::active), 0);
}

/// Frees complete when the test names them.
class Named final : public CompletionSource {
 public:
  std::optional<Address> next_completed(bool) override { return std::exchange(next, std::nullopt); }
  std::optional<Address> next;
};

TEST(Streams, ACompletionSourceDecidesInsteadOfEvents) {
  Named named;
  CoreOptions options;
  options.completions = &named;
  World world("", 11, {}, options);
  const Address a = world.allocate(32 * kMiB);
  const Address b = world.allocate(32 * kMiB);
  for (const Address block : {a, b}) {
    world.core->record_stream(block, 7);
    world.free(block);
  }
  named.next = b;
  EXPECT_EQ(world.allocate(32 * kMiB), b);
  EXPECT_EQ(world.current(Metric::active), 2);
  EXPECT_EQ(world.driver.calls(device::Call::record_event), 0U);
  world.empty_cache();
  EXPECT_EQ(world.current(Metric::active), 1);
}

}  // namespace
}  // namespace ebb::cache
