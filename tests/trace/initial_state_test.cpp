// SPDX-License-Identifier: Apache-2.0
#include "trace/initial_state.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::trace {
namespace {

using base::kMiB;

constexpr Address kBase = 0x700000000000;

Event made(Action action, Address address, std::uint64_t size) {
  Event e;
  e.action = action;
  e.address = address;
  e.size = size;
  return e;
}

Segment plain(Address address, std::uint64_t size, std::vector<Block> blocks) {
  Segment segment;
  segment.address = address;
  segment.size = size;
  segment.blocks = std::move(blocks);
  return segment;
}

Block made_block(Address address, std::uint64_t size, BlockState state) {
  Block b;
  b.address = address;
  b.size = size;
  b.requested = size;
  b.state = state;
  return b;
}

Snapshot with(std::vector<Segment> segments, std::vector<Event> trace) {
  Snapshot snapshot;
  snapshot.segments = std::move(segments);
  snapshot.traces.push_back(std::move(trace));
  snapshot.streams = {0, 7};
  snapshot.pools = {PoolId{}, PoolId{0, 1}};
  return snapshot;
}

TEST(InitialState, WithoutATraceIsTheFinalState) {
  Snapshot snapshot =
      with({plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::active_allocated)})}, {});
  const InitialState state = initial_state(snapshot, 0);
  ASSERT_EQ(state.segments.size(), 1U);
  EXPECT_EQ(state.allocated_blocks, 1U);
  EXPECT_EQ(state.requested_bytes, 2 * kMiB);
  EXPECT_TRUE(initial_state(snapshot, 1).empty()) << "another device has none";
}

TEST(InitialState, HoldsBlocksThatTheTraceFrees) {
  Event freed = made(Action::free_requested, kBase + 512, 300);
  freed.stream = 1;
  Snapshot snapshot = with({plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::inactive)})},
                           {freed, made(Action::free_completed, kBase + 512, 300)});
  const InitialState state = initial_state(snapshot, 0);
  ASSERT_EQ(state.segments.size(), 1U);
  const std::vector<Block>& blocks = state.segments[0].blocks;
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[1].address, kBase + 512);
  EXPECT_EQ(blocks[1].size, 512U) << "the least possible";
  EXPECT_EQ(blocks[1].requested, 300U);
  EXPECT_EQ(blocks[1].state, BlockState::active_allocated);
  EXPECT_EQ(state.guessed_sizes, 1U);
  EXPECT_TRUE(state.notes.empty());
}

TEST(InitialState, HoldsFreesThatWereStillPending) {
  Snapshot snapshot = with({plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::inactive)})},
                           {made(Action::free_completed, kBase, 300)});
  const InitialState state = initial_state(snapshot, 0);
  EXPECT_EQ(state.pending_blocks, 1U);
  EXPECT_EQ(state.allocated_blocks, 0U);
}

TEST(InitialState, HoldsSegmentsThatTheTraceReleases) {
  Event released = made(Action::segment_free, kBase, 2 * kMiB);
  released.stream = 1;
  released.pool = 1;
  Snapshot snapshot = with({}, {released});
  snapshot.has_pool_ids = true;
  const InitialState state = initial_state(snapshot, 0);
  ASSERT_EQ(state.segments.size(), 1U);
  EXPECT_EQ(state.segments[0].stream, 7U);
  EXPECT_EQ(state.segments[0].pool, (PoolId{0, 1}));
  EXPECT_TRUE(state.segments[0].small) << "only small requests get segments of 2 MiB";
  ASSERT_EQ(state.segments[0].blocks.size(), 1U);
  EXPECT_EQ(state.segments[0].blocks[0].state, BlockState::inactive);
}

TEST(InitialState, JoinsPagesThatTheTraceUnmaps) {
  Segment mapped = plain(kBase, 20 * kMiB, {made_block(kBase, 20 * kMiB, BlockState::inactive)});
  mapped.expandable = true;
  Snapshot snapshot = with({mapped}, {made(Action::segment_unmap, kBase + 40 * kMiB, 20 * kMiB),
                                      made(Action::segment_unmap, kBase + 20 * kMiB, 20 * kMiB)});
  const InitialState state = initial_state(snapshot, 0);
  ASSERT_EQ(state.segments.size(), 1U);
  EXPECT_EQ(state.segments[0].size, 60 * kMiB);
  EXPECT_TRUE(state.segments[0].expandable);
}

TEST(InitialState, CutsPagesThatTheTraceMaps) {
  Segment mapped = plain(kBase, 60 * kMiB, {made_block(kBase, 60 * kMiB, BlockState::inactive)});
  mapped.expandable = true;
  Snapshot snapshot = with({mapped}, {made(Action::segment_map, kBase + 20 * kMiB, 20 * kMiB)});
  const InitialState state = initial_state(snapshot, 0);
  ASSERT_EQ(state.segments.size(), 2U);
  EXPECT_EQ(state.segments[0].size, 20 * kMiB);
  EXPECT_EQ(state.segments[1].address, kBase + 40 * kMiB);
}

TEST(InitialState, KeepsTheStackOfABlockThatIsStillThereAtTheEnd) {
  Block live = made_block(kBase, 2 * kMiB, BlockState::active_allocated);
  live.stack = 3;
  const InitialState state = initial_state(with({plain(kBase, 2 * kMiB, {live})}, {}), 0);
  EXPECT_EQ(state.segments[0].blocks[0].stack, 3U);
  EXPECT_EQ(state.guessed_sizes, 0U);
}

TEST(InitialState, LeavesOutWhatDoesNotFitTogetherAndSaysSo) {
  const InitialState state = initial_state(
      with({plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::active_allocated)})},
           {made(Action::segment_alloc, kBase + 8 * kMiB, 2 * kMiB),
            made(Action::alloc, kBase + 4096, 512), made(Action::alloc, kBase + 8192, 512),
            made(Action::free_completed, kBase, 2 * kMiB),
            made(Action::segment_free, kBase + kMiB, 2 * kMiB),
            made(Action::free_completed, kBase + 64 * kMiB, 512)}),
      0);
  ASSERT_EQ(state.notes.size(), 5U);
  EXPECT_EQ(state.notes[0],
            "2 allocations left out: nothing is at their address later, and no event frees them "
            "(first: event 1)");
  EXPECT_EQ(state.notes[1].substr(0, 16), "1 frees left out");
  EXPECT_EQ(state.notes[2].substr(0, 23), "1 new segments left out");
  EXPECT_EQ(state.notes[3].substr(0, 28), "1 released segments left out");
  EXPECT_EQ(state.notes[4].substr(0, 17), "1 blocks left out");
  ASSERT_EQ(state.segments.size(), 1U);
  EXPECT_EQ(state.segments[0].blocks.size(), 1U);
}

TEST(InitialState, SaysWhenThePoolOfAReleasedSegmentIsNotKnown) {
  Segment of_pool = plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::inactive)});
  of_pool.pool = {0, 1};
  const InitialState state =
      initial_state(with({of_pool}, {made(Action::segment_free, kBase + 8 * kMiB, 2 * kMiB)}), 0);
  ASSERT_EQ(state.notes.size(), 1U);
  EXPECT_NE(state.notes[0].find("does not say from which pool"), std::string::npos);
}

TEST(InitialState, NeedsNoCompletionsWhereTheRecordingLeavesThemOut) {
  const InitialState state = initial_state(
      with({plain(kBase, 2 * kMiB, {made_block(kBase, 2 * kMiB, BlockState::inactive)})},
           {made(Action::free_requested, kBase, 512), made(Action::alloc, kBase, 1024),
            made(Action::free_requested, kBase, 1024)}),
      0);
  EXPECT_EQ(state.notes, std::vector<std::string>());
  EXPECT_EQ(state.allocated_blocks, 1U);
  EXPECT_EQ(state.requested_bytes, 512U);
}

}  // namespace
}  // namespace ebb::trace
