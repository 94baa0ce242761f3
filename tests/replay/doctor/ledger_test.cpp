// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/ledger.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cache/rounding.h"

namespace ebb::replay {
namespace {

using base::kKiB;
using base::kMiB;
using cache::BlockState;
using cache::SnapshotBlock;
using cache::SnapshotSegment;

/// A segment of these blocks, one after another.
SnapshotSegment segment_of(std::uint64_t address, std::vector<SnapshotBlock> blocks) {
  SnapshotSegment segment;
  segment.address = address;
  for (SnapshotBlock& block : blocks) {
    block.address = address + segment.total_size;
    segment.total_size += block.size;
  }
  segment.blocks = std::move(blocks);
  return segment;
}

SnapshotBlock live(std::uint64_t size, std::uint64_t requested) {
  return {0, size, requested, BlockState::active_allocated};
}
SnapshotBlock free(std::uint64_t size) {
  return {0, size, 0, BlockState::inactive};
}
SnapshotBlock pending(std::uint64_t size) {
  return {0, size, size, BlockState::active_pending_free};
}

Ledger ledger_under(const char* conf, const std::vector<SnapshotSegment>& segments,
                    const std::vector<Piece>& waited = {}) {
  const auto profile = *cache::profile_of(11);
  return ledger_of(segments, *cache::parse_settings(conf, profile), profile, waited);
}

std::uint64_t sum(const Ledger& ledger) {
  return ledger.needed + ledger.rounding + ledger.oversize + ledger.pending + ledger.private_free +
         ledger.split_free + ledger.cached;
}

TEST(Ledger, PutsEveryByteInOnePlace) {
  SnapshotSegment pool = segment_of(1000 * kMiB, {live(2 * kMiB, 2 * kMiB), free(18 * kMiB)});
  pool.pool = {0, 1};
  const Ledger ledger = ledger_under(
      "", {segment_of(0, {live(4 * kMiB, 4 * kMiB - 100), free(6 * kMiB), pending(10 * kMiB)}),
           segment_of(100 * kMiB, {free(20 * kMiB)}), pool});
  EXPECT_EQ(ledger.reserved, 60 * kMiB);
  EXPECT_EQ(ledger.needed, 6 * kMiB);
  EXPECT_EQ(ledger.rounding, 0U) << "512 bytes are nobody's fault";
  EXPECT_EQ(ledger.pending, 10 * kMiB);
  EXPECT_EQ(ledger.split_free, 6 * kMiB);
  EXPECT_EQ(ledger.cached, 20 * kMiB);
  EXPECT_EQ(ledger.private_free, 18 * kMiB);
  EXPECT_EQ(sum(ledger), ledger.reserved);
}

TEST(Ledger, TellsRoundingFromBlocksHandedOutWhole) {
  const Ledger rounded =
      ledger_under("roundup_power2_divisions:2", {segment_of(0, {live(96 * kMiB, 65 * kMiB)})});
  EXPECT_EQ(rounded.rounding, 31 * kMiB);
  const Ledger left_over = ledger_under("", {segment_of(0, {live(12 * kMiB, 11 * kMiB)})});
  EXPECT_EQ(left_over.rounding, kMiB) << "too little to split off";
  const Ledger whole =
      ledger_under("max_split_size_mb:64", {segment_of(0, {live(118 * kMiB, 100 * kMiB)})});
  EXPECT_EQ(whole.oversize, 18 * kMiB);
  EXPECT_EQ(whole.rounding, 0U);
}

TEST(Ledger, CountsWholePagesOfExpandableSegmentsAsCache) {
  SnapshotSegment segment = segment_of(
      4096 * kMiB, {live(5 * kMiB, 5 * kMiB), free(50 * kMiB), live(25 * kMiB, 25 * kMiB)});
  segment.expandable = true;
  const Ledger ledger = ledger_under("expandable_segments:True", {segment});
  EXPECT_EQ(ledger.cached, 20 * kMiB) << "from 20 to 40 MiB";
  EXPECT_EQ(ledger.split_free, 30 * kMiB);
}

TEST(Ledger, CountsWhatWasWaitedForAsPending) {
  const Ledger ledger = ledger_under(
      "", {segment_of(0, {live(4 * kMiB, 4 * kMiB), free(16 * kMiB)})},
      {{2 * kMiB, kMiB}, {6 * kMiB, 3 * kMiB}, {18 * kMiB, 4 * kMiB}, {64 * kMiB, kMiB}});
  EXPECT_EQ(ledger.pending, 5 * kMiB) << "3 of the second, 2 of the third";
  EXPECT_EQ(ledger.split_free, 11 * kMiB);
  EXPECT_EQ(sum(ledger), ledger.reserved);
}

}  // namespace
}  // namespace ebb::replay
