// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

bool every_stream(StreamId) {
  return true;
}

/// MemPool and use_mem_pool, as PyTorch strings them together.
PoolId make_pool(World& world, const PrivatePoolOptions& options = {}) {
  const PoolId id = world.core->next_pool_id(false);
  EXPECT_TRUE(world.core->retain_pool(id, options));
  return id;
}
void enter(World& world, PoolId id) {
  EXPECT_TRUE(world.core->begin_scope(id, every_stream));
}
void leave(World& world, PoolId id) {
  EXPECT_TRUE(world.core->end_scope(id));
  EXPECT_TRUE(world.core->release_pool(id));
}
void destroy(World& world, PoolId id) {
  EXPECT_TRUE(world.core->release_pool(id));
  EXPECT_TRUE(world.core->empty_pool(id));
}

TEST(PrivatePools, HaveTheirOwnMemory) {
  World world;
  const Address outside = world.allocate(4 * kMiB);
  world.free(outside);
  const PoolId id = make_pool(world);
  EXPECT_EQ(id, (PoolId{0, 1}));
  EXPECT_EQ(world.core->next_pool_id(true), (PoolId{1, 0}));
  enter(world, id);
  EXPECT_EQ(world.core->pool_uses(id), 2);
  const Address inside = world.allocate(4 * kMiB);
  EXPECT_NE(inside, outside);
  leave(world, id);
  EXPECT_EQ(world.allocate(4 * kMiB), outside);
  world.free(inside);
  world.empty_cache();
  EXPECT_EQ(world.core->reserved(), 40 * kMiB) << "a pool in use keeps its memory";
  destroy(world, id);
  EXPECT_EQ(world.core->reserved(), 20 * kMiB);
  EXPECT_EQ(world.core->pool_uses(id), 0);
}

TEST(PrivatePools, LiveBlocksKeepTheirSegmentsUntilALaterRelease) {
  World world;
  const PoolId id = make_pool(world);
  enter(world, id);
  const Address block = world.allocate(4 * kMiB);
  leave(world, id);
  destroy(world, id);
  EXPECT_EQ(world.core->reserved(), 20 * kMiB);
  world.free(block);
  world.empty_cache();
  EXPECT_EQ(world.core->reserved(), 0U);
  EXPECT_FALSE(world.core->release_pool(id)) << "gone";
}

TEST(PrivatePools, WithoutSplittingEveryRequestGetsAWholeSegment) {
  World world;
  const PoolId id = make_pool(world, {.no_split = true});
  enter(world, id);
  EXPECT_EQ(world.core->size_of(world.allocate(100)), 2 * kMiB);
  EXPECT_EQ(world.core->size_of(world.allocate(4 * kMiB)), 20 * kMiB);
  leave(world, id);
}

TEST(PrivatePools, TheNewestScopeWinsFrom210OnTheOldestBefore) {
  for (const int minor : {9, 10}) {
    World world("", minor);
    const PoolId first = make_pool(world);
    const PoolId second = make_pool(world);
    enter(world, first);
    enter(world, second);
    world.allocate(4 * kMiB);
    EXPECT_EQ(world.core->history().back().pool, minor == 9 ? first : second);
    leave(world, second);
    leave(world, first);
  }
}

TEST(PrivatePools, MisuseIsAnErrorThatNamesThePool) {
  World world;
  const PoolId id = make_pool(world);
  enter(world, id);
  const auto twice = world.core->begin_scope(id, every_stream);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "pool (0, 1) is being allocated to already");
  leave(world, id);
  EXPECT_FALSE(world.core->end_scope(id));
  EXPECT_FALSE(world.core->retain_pool({0, 0}));
  EXPECT_FALSE(world.core->release_pool({0, 9}));
  world.core->release_pool(id).has_value();
  EXPECT_FALSE(world.core->retain_pool(id)) << "released already";
}

/// Segments from somewhere else, as MemPool(allocator=…) gives them.
class OwnSource final : public SegmentSource {
 public:
  Address allocate(std::uint64_t bytes, int, StreamId) override {
    if (full) return 0;
    next += 1 << 30;
    held[next] = bytes;
    return next;
  }
  void release(Address address, std::uint64_t bytes, int, StreamId) override {
    EXPECT_EQ(held[address], bytes);
    held.erase(address);
  }
  bool full = false;
  Address next = Address{1} << 60;
  std::map<Address, std::uint64_t> held;
};

TEST(PrivatePools, TakeSegmentsFromTheirOwnSource) {
  OwnSource source;
  World world("expandable_segments:True", 10);
  const PoolId id = make_pool(world, {.source = &source});
  enter(world, id);
  const Address block = world.allocate(4 * kMiB);
  EXPECT_EQ(block, (Address{1} << 60) + (1 << 30));
  EXPECT_EQ(source.held[block], 20 * kMiB) << "plain segments, whatever the option says";
  source.full = true;
  EXPECT_EQ(world.allocate(40 * kMiB), 0U);
  leave(world, id);
  world.free(block);
  destroy(world, id);
  EXPECT_TRUE(source.held.empty());
  EXPECT_EQ(world.driver.calls(device::Call::allocate), 0U);
}

TEST(PrivatePools, ExpandableSegmentsWereRefusedInPoolsBy27) {
  World world("expandable_segments:True", 7);
  const PoolId id = make_pool(world);
  enter(world, id);
  EXPECT_EQ(world.allocate(4 * kMiB), 0U);
  EXPECT_EQ(world.core->last_failure().kind, FailureKind::driver_error);
  EXPECT_EQ(world.core->last_failure().driver.code, base::Code::unavailable);
  leave(world, id);
}

TEST(PrivatePools, OverflowPoolsServeTheDefaultPoolFirstOrLastByVersion) {
  for (const int minor : {7, 10, 11}) {
    World world("", minor);
    const PoolId id = make_pool(world, {.use_on_oom = true});
    enter(world, id);
    const Address spare = world.allocate(40 * kMiB);
    leave(world, id);
    world.free(spare);
    const Address cached = world.allocate(20 * kMiB);
    world.free(cached);
    world.set_limit(60 * kMiB);
    const Address got = world.allocate(38 * kMiB);
    EXPECT_EQ(got, minor == 7 ? 0 : spare) << minor;
    EXPECT_EQ(world.core->stats().num_alloc_retries, minor == 11 ? 0 : 1) << minor;
  }
}

TEST(PrivatePools, AnOpenScopeCountsAsACaptureUpTo212) {
  for (const int minor : {7, 11, 13}) {
    World world("", minor);
    world.free(world.allocate(40 * kMiB));
    world.set_limit(60 * kMiB);
    const PoolId id = make_pool(world);
    enter(world, id);
    const bool released = world.allocate(40 * kMiB) != 0;
    EXPECT_EQ(released, minor == 13) << minor;
    const bool emptied = world.core->empty_cache().has_value();
    EXPECT_TRUE(emptied) << minor;
    EXPECT_EQ(world.core->reserved(), 40 * kMiB) << minor;
    leave(world, id);
  }
}

TEST(PrivatePools, EmptyCacheInACaptureWasAnErrorUpTo25) {
  World world("", 5);
  const PoolId id = make_pool(world);
  enter(world, id);
  const auto status = world.core->empty_cache();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::Code::unavailable);
  leave(world, id);
}

TEST(PrivatePools, FreesInACaptureWaitForItsEnd) {
  World world;
  const Address block = world.allocate(32 * kMiB);
  const Address early = world.allocate(32 * kMiB);
  world.core->record_stream(early, 9);
  const PoolId id = make_pool(world);
  enter(world, id);
  world.core->record_stream(block, 7);
  world.free(block);
  world.free(early);
  EXPECT_EQ(world.driver.calls(device::Call::record_event), 0U);
  world.allocate(kMiB);
  EXPECT_EQ(world.current(Metric::active), 3);
  leave(world, id);
  EXPECT_EQ(world.allocate(32 * kMiB), block) << "its only other use was inside the capture";
  EXPECT_EQ(world.driver.calls(device::Call::record_event), 1U) << "for the earlier use";
}

TEST(PrivatePools, ReservedBytesAreCountedForEachPoolFrom213On) {
  World world("", 13);
  const PoolId id = make_pool(world);
  enter(world, id);
  world.allocate(4 * kMiB);
  leave(world, id);
  const StatsTable stats =
      memory_stats(world.core->stats(), world.core->private_reserved(), world.core->profile());
  const auto found = std::find_if(stats.begin(), stats.end(), [](const auto& stat) {
    return stat.first == "reserved_bytes_by_private_pools.0_1.large_pool.current";
  });
  ASSERT_NE(found, stats.end());
  EXPECT_EQ(found->second, static_cast<std::int64_t>(20 * kMiB));
}

/// A graph whose order the test decides.
class Topology final : public CaptureTopology {
 public:
  void mark_uses(Address address, StreamId, const std::vector<StreamId>&) override {
    marked.push_back(address);
  }
  bool uses_precede(Address address, StreamId) override { return address == safe; }
  std::vector<Address> marked;
  Address safe = 0;
};

TEST(PrivatePools, AProvenOrderLetsACaptureReuseABlock) {
  Topology topology;
  CoreOptions options;
  options.topology = &topology;
  World world("graph_capture_record_stream_reuse:True", 12, {}, options);
  const PoolId id = make_pool(world);
  enter(world, id);
  const Address block = world.allocate(4 * kMiB);
  const Address other = world.allocate(4 * kMiB);
  for (const Address used : {block, other}) {
    world.core->record_stream(used, 7);
    world.free(used);
  }
  EXPECT_EQ(topology.marked, (std::vector<Address>{block, other}));
  topology.safe = block;
  EXPECT_EQ(world.allocate(4 * kMiB), block);
  EXPECT_EQ(world.current(Metric::active), 2);
  leave(world, id);
  EXPECT_EQ(world.current(Metric::active), 1) << "the rest completes when the scope ends";
}

class PrivatePoolsByThemselves : public testing::Test {
 protected:
  static bool even(StreamId stream) { return stream % 2 == 0; }

  Settings settings_;
  ProcessCounters counters_;
};

TEST_F(PrivatePoolsByThemselves, AreNumberedForUsersAndForGraphs) {
  const VersionProfile profile = *profile_of(11);
  PrivatePools pools(settings_, profile, counters_);
  PrivatePools of_another_device(settings_, profile, counters_);
  EXPECT_EQ(pools.next_id(false), (PoolId{0, 1}));
  EXPECT_EQ(pools.next_id(true), (PoolId{1, 0}));
  EXPECT_EQ(of_another_device.next_id(false), (PoolId{0, 2}));
}

TEST_F(PrivatePoolsByThemselves, AreFreeableWithoutUsesAndThenDiscarded) {
  const VersionProfile profile = *profile_of(11);
  PrivatePools pools(settings_, profile, counters_);
  const PoolId id = pools.next_id(false);
  EXPECT_EQ(pools.uses(id), 0);
  EXPECT_FALSE(pools.release(id));
  ASSERT_TRUE(pools.retain(id, {.use_on_oom = true}));
  ASSERT_TRUE(pools.retain(id));
  EXPECT_EQ(pools.uses(id), 2);
  EXPECT_TRUE(pools.find(id)->options.use_on_oom);
  pools.set_use_on_oom(id, false);
  EXPECT_FALSE(pools.find(id)->options.use_on_oom);
  ASSERT_TRUE(pools.release(id));
  EXPECT_TRUE(pools.freeable().empty());
  ASSERT_TRUE(pools.release(id));
  ASSERT_EQ(pools.freeable().size(), 1U);
  EXPECT_FALSE(pools.retain(id));
  pools.discard(pools.freeable().front());
  EXPECT_TRUE(pools.freeable().empty());
  EXPECT_EQ(pools.find(id), nullptr);
  EXPECT_TRUE(pools.all().empty());
}

TEST_F(PrivatePoolsByThemselves, AScopeTakesTheRequestsThatItsFilterAccepts) {
  for (const int minor : {9, 10}) {
    const VersionProfile profile = *profile_of(minor);
    PrivatePools pools(settings_, profile, counters_);
    EXPECT_FALSE(pools.has_scopes());
    ASSERT_TRUE(pools.begin_scope({0, 8}, even));
    ASSERT_TRUE(pools.begin_scope({0, 9}, every_stream));
    EXPECT_TRUE(pools.has_scopes());
    EXPECT_EQ(pools.route(1)->id, (PoolId{0, 9}));
    EXPECT_EQ(pools.route(2)->id, (minor == 9 ? PoolId{0, 8} : PoolId{0, 9}));
    ASSERT_TRUE(pools.end_scope({0, 9}));
    EXPECT_EQ(pools.uses({0, 9}), 1) << "left to release()";
    EXPECT_EQ(pools.route(1), nullptr);
    EXPECT_EQ(pools.route(2)->id, (PoolId{0, 8}));
    EXPECT_FALSE(pools.end_scope({0, 9}));
  }
}

TEST_F(PrivatePoolsByThemselves, FollowTheSettings) {
  const VersionProfile profile = *profile_of(11);
  PrivatePools pools(settings_, profile, counters_);
  OwnSource source;
  ASSERT_TRUE(pools.retain({0, 1}));
  ASSERT_TRUE(pools.retain({0, 2}, {.source = &source}));
  EXPECT_FALSE(pools.find({0, 1})->pools.large.expandable);
  settings_ = *parse_settings("expandable_segments:True", profile);
  pools.refresh();
  EXPECT_TRUE(pools.find({0, 1})->pools.large.expandable);
  EXPECT_FALSE(pools.find({0, 2})->pools.large.expandable) << "its source gives plain segments";
}

}  // namespace
}  // namespace ebb::cache
