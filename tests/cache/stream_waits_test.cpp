// SPDX-License-Identifier: Apache-2.0
#include "cache/stream_waits.h"

#include <gtest/gtest.h>

#include <utility>

#include "device/sim_driver.h"

namespace ebb::cache {
namespace {

/// Blocks of two streams in the default pool and of one in a private pool, all in use, and the
/// addresses of those that were completed.
class StreamWaitsTest : public testing::Test {
 protected:
  StreamWaitsTest() {
    set_up(default_, nullptr);
    set_up(private_.pools, &private_);
  }

  std::unique_ptr<StreamWaits> make(const StreamWaitOptions& options = {}) {
    return std::make_unique<StreamWaits>(
        driver_, 0, options, [this](Block* block) { completed_.push_back(block->address); });
  }

  Block* block_at(Address address, std::initializer_list<StreamId> used_on, bool captured = false) {
    Block* block = slab_.create();
    block->address = address;
    block->size = 512;
    for (const StreamId stream : used_on)
      StreamWaits::add_use(block, stream, captured);
    return block;
  }

  std::vector<Address> completed() { return std::exchange(completed_, {}); }

  device::SimDriver driver_{{.events = device::Completion::by_hand}};
  SegmentTable segments_;
  BlockSlab slab_;
  PoolPair default_;
  PrivatePool private_;
  Lane lane_{0, &default_.small, 0, TieBreak::address, segments_};
  Lane other_{5, &default_.small, 1, TieBreak::address, segments_};
  Lane inside_{0, &private_.pools.small, 2, TieBreak::address, segments_};
  std::vector<Address> completed_;
};

using Addresses = std::vector<Address>;

TEST_F(StreamWaitsTest, ABlockWaitsForAllStreamsThatUsedIt) {
  const auto waits = make();
  Block* block = block_at(512, {7, 8, 7});
  EXPECT_TRUE(block->shared);
  waits->add(block, lane_);
  EXPECT_TRUE(waits->any());
  EXPECT_EQ(driver_.calls(device::Call::record_event), 2U) << "one for each stream";
  driver_.complete_stream(0, 7);
  waits->poll();
  EXPECT_EQ(completed(), Addresses{});
  driver_.complete_stream(0, 8);
  waits->poll();
  EXPECT_EQ(completed(), Addresses{512});
  EXPECT_FALSE(block->shared);
  EXPECT_FALSE(waits->any());
  EXPECT_EQ(driver_.calls(device::Call::destroy_event), 2U);
}

TEST_F(StreamWaitsTest, WithoutEventsABlockCompletesAtOnce) {
  const auto waits = make();
  driver_.inject({.call = device::Call::record_event, .times = 1, .code = base::Code::io});
  waits->add(block_at(512, {7}), lane_);
  EXPECT_EQ(completed(), Addresses{512});
  EXPECT_EQ(driver_.calls(device::Call::synchronize_stream), 1U);
  EXPECT_FALSE(waits->any());
}

TEST_F(StreamWaitsTest, WaitsForOnePoolOnlyWhereAsked) {
  const auto waits = make();
  waits->add(block_at(512, {7}), lane_);
  waits->add(block_at(1024, {7}), inside_);
  waits->wait(&private_);
  EXPECT_EQ(completed(), Addresses{1024});
  EXPECT_TRUE(waits->any());
  waits->wait();
  EXPECT_EQ(completed(), Addresses{512});
  EXPECT_FALSE(waits->any());
}

TEST_F(StreamWaitsTest, BlocksOfACaptureGetTheirEventsAfterIt) {
  const auto waits = make({.drops_capture_streams = true});
  waits->add_in_capture(block_at(512, {7}), lane_, false);
  waits->add_in_capture(block_at(1024, {7}, true), lane_, false);
  EXPECT_TRUE(waits->any());
  EXPECT_EQ(driver_.calls(device::Call::record_event), 0U);
  waits->poll();
  EXPECT_EQ(completed(), Addresses{1024}) << "was used in the capture only";
  EXPECT_EQ(driver_.calls(device::Call::record_event), 1U);
  driver_.complete_stream(0, 7);
  waits->poll();
  EXPECT_EQ(completed(), Addresses{512});
}

TEST_F(StreamWaitsTest, AScopesBlocksCompleteWithoutEvents) {
  const auto waits = make();
  waits->add_in_capture(block_at(512, {7}), lane_, false);
  waits->add_in_capture(block_at(1024, {7}), inside_, false);
  waits->complete_deferred_of(&private_);
  EXPECT_EQ(completed(), Addresses{1024});
  EXPECT_TRUE(waits->any());
  EXPECT_EQ(driver_.calls(device::Call::record_event), 0U);
}

/// The uses of one address precede everything.
class OneIsSafe final : public CaptureTopology {
 public:
  void mark_uses(Address address, StreamId own, const std::vector<StreamId>& others) override {
    marked.push_back(address + own + others.size());
  }
  bool uses_precede(Address address, StreamId) override { return address == 1024; }
  std::vector<std::uint64_t> marked;
};

TEST_F(StreamWaitsTest, ATopologySaysWhatACaptureMayReuse) {
  OneIsSafe topology;
  const auto waits = make({.topology = &topology});
  for (const Address address : Addresses{512, 1024})
    waits->add_in_capture(block_at(address, {7, 8}), other_, true);
  waits->add_in_capture(block_at(2048, {7}), other_, false);
  EXPECT_EQ(topology.marked, (std::vector<std::uint64_t>{512 + 5 + 2, 1024 + 5 + 2}));
  waits->complete_reusable(0);
  EXPECT_EQ(completed(), Addresses{}) << "another stream's";
  waits->complete_reusable(5);
  EXPECT_EQ(completed(), Addresses{1024});
}

/// Names blocks in the order in which it is told to.
class InOrder final : public CompletionSource {
 public:
  std::optional<Address> next_completed(bool) override {
    if (order.empty()) return std::nullopt;
    const Address next = order.back();
    order.pop_back();
    return next;
  }
  Addresses order;  ///< the last one first
};

TEST_F(StreamWaitsTest, ACompletionSourceNamesWhatIsDone) {
  InOrder source;
  const auto waits = make({.completions = &source});
  for (const Address address : Addresses{512, 1024, 2048, 4096})
    waits->add(block_at(address, {7}), lane_);
  source.order = {512, 2048};
  waits->poll();
  EXPECT_EQ(completed(), (Addresses{2048, 512}));
  source.order = {4096};
  waits->wait();
  EXPECT_EQ(completed(), (Addresses{4096, 1024})) << "named ones first";
  EXPECT_FALSE(waits->any());
  EXPECT_EQ(driver_.calls(device::Call::record_event), 0U);
}

TEST_F(StreamWaitsTest, OutstandingEventsAreDestroyedWithIt) {
  auto waits = make();
  waits->add(block_at(512, {7, 8}), lane_);
  waits.reset();
  EXPECT_EQ(driver_.calls(device::Call::destroy_event), 2U);
  EXPECT_EQ(completed(), Addresses{});
}

}  // namespace
}  // namespace ebb::cache
