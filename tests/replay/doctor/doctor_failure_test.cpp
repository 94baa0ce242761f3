// SPDX-License-Identifier: Apache-2.0
// Jobs that ran out of memory for one known reason, on the project's own allocator.
#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

constexpr std::uint64_t kLimit = kGiB;

std::string kind_of(const base::Json& evidence) {
  return *evidence.find("kind")->as_string();
}

/// The cause that the replay of a certificate leaves out; empty where it has none.
std::string left_out(const base::Json& evidence) {
  const base::Json* without = evidence.find("without");
  return without == nullptr ? std::string() : *without->as_string();
}

TEST(DoctorOfAFailure, LiveBytesAboveTheLimitAreCapacity) {
  Patient job({.limit = kLimit});
  job.take_all(3, 300 * kMiB);
  job.refuse(200 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_EQ(found.also, std::vector{Verdict::self_limit});
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(kind_of(found.evidence), "live_set");
  EXPECT_EQ(found.headline, "What the job keeps alive does not fit: 76.0 MiB too much");
  EXPECT_EQ(found.fix.kind, fact::FixKind::memory);
  EXPECT_EQ(found.fix.bytes, 1100 * kMiB);
}

TEST(DoctorOfAFailure, AFullCardIsCapacityWithoutAskingForTheLimit) {
  device::SimOptions card;
  card.total_memory = 2 * kGiB;
  card.used_by_others = kGiB;
  Patient job({.device = card});
  job.take_all(3, 300 * kMiB);
  job.refuse(200 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_EQ(found.also, std::vector<Verdict>());
  EXPECT_EQ(found.limit, kGiB);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
}

TEST(DoctorOfAFailure, WhatOthersHeldIsTheirsWhereTheSizeOfTheCardIsTold) {
  device::SimOptions card;
  card.total_memory = 8 * kGiB;
  card.used_by_others = 6 * kGiB;
  Patient job({.device = card});
  job.take_all(3, 600 * kMiB);
  job.refuse(400 * kMiB);
  EXPECT_EQ(examine(job.snapshot()).verdict, Verdict::capacity) << "nobody has told it";
  const SnapshotDiagnosis found = examine(job.snapshot(), {}, 0, 8 * kGiB);
  EXPECT_EQ(found.verdict, Verdict::other_process) << found.headline;
  EXPECT_NE(found.headline.find("6.0 GiB"), std::string::npos) << found.headline;
  EXPECT_EQ(found.fix.kind, fact::FixKind::memory);
  EXPECT_EQ(examine(job.snapshot(), {}, 0, 2 * kGiB).verdict, Verdict::capacity) << "all its own";
}

TEST(DoctorOfAFailure, ALimitThatNobodyTellsMakesItLessCertain) {
  Patient job({.limit = kLimit});
  job.take_all(3, 300 * kMiB);
  job.refuse(200 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::capacity) << "of the 900 MiB that are known to be allowed";
  EXPECT_EQ(found.confidence, fact::Confidence::high)
      << "1100 MiB live are above every limit there can be";
  EXPECT_TRUE(has_also(found, Verdict::self_limit));

  Patient other({.limit = kLimit});
  other.take_all(3, 300 * kMiB);
  const Address hole = other.take(60 * kMiB);
  other.take(61 * kMiB);
  other.give(hole);
  other.refuse(150 * kMiB);
  EXPECT_EQ(examine(other.snapshot()).confidence, fact::Confidence::medium);
}

TEST(DoctorOfAFailure, FreePiecesBetweenLiveBlocksAreFragmentation) {
  Patient job({.limit = kLimit});
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.take_all(2, 300 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  job.refuse(150 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(found.ledger.split_free, 200 * kMiB);
  EXPECT_EQ(kind_of(found.evidence), "packing");
  EXPECT_EQ(found.fix.kind, fact::FixKind::settings);
  EXPECT_EQ(found.fix.conf, "expandable_segments:True");
}

TEST(DoctorOfAFailure, SmallLiveBlocksInLargeSegmentsAreFragmentation) {
  Patient job({.limit = 850 * kMiB});
  std::vector<Address> rest;
  for (int i = 0; i < 40; ++i) {
    job.take(2 * kMiB);
    rest.push_back(job.take(9 * kMiB));
    rest.push_back(job.take(9 * kMiB));
  }
  job.give_all(rest);
  job.refuse(100 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), 850 * kMiB);
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.ledger.needed, 80 * kMiB);
  EXPECT_EQ(found.ledger.split_free, 720 * kMiB);
  EXPECT_EQ(kind_of(found.evidence), "packing");
}

TEST(DoctorOfAFailure, CoarseRoundingIsRounding) {
  Patient job({.conf = "roundup_power2_divisions:2", .limit = 800 * kMiB});
  job.take_all(8, 65 * kMiB);
  job.refuse(65 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), 800 * kMiB);
  EXPECT_EQ(found.verdict, Verdict::rounding);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(found.ledger.rounding, 8 * 31 * kMiB);
  EXPECT_EQ(kind_of(found.evidence), "replay");
  EXPECT_EQ(left_out(found.evidence), "rounding");
  EXPECT_EQ(found.fix.kind, fact::FixKind::settings);
  EXPECT_EQ(found.fix.conf, "");
}

TEST(DoctorOfAFailure, ARequestThatRoundingAloneMadeTooLargeIsNotCapacity) {
  Patient job({.conf = "roundup_power2_divisions:2", .limit = 100 * kMiB});
  job.take(10 * kMiB);
  job.refuse(65 * kMiB);  // rounded to 96 MiB
  const SnapshotDiagnosis found = examine(job.snapshot(), 100 * kMiB);
  EXPECT_EQ(found.verdict, Verdict::rounding);
  EXPECT_EQ(found.confidence, fact::Confidence::medium) << "the request is recorded as rounded";
}

TEST(DoctorOfAFailure, BlocksHandedOutWholeAreOversize) {
  Patient job({.conf = "max_split_size_mb:64", .limit = kLimit});
  job.give_all(job.take_all(8, 118 * kMiB));
  job.take_all(8, 100 * kMiB);
  job.take_all(4, 17 * kMiB);
  job.refuse(17 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::oversize);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(found.ledger.oversize, 8 * 18 * kMiB);
  EXPECT_EQ(left_out(found.evidence), "oversize");
  EXPECT_EQ(found.fix.conf, "");
}

TEST(DoctorOfAFailure, MemoryThatAnotherStreamStillUsesIsDeferredFrees) {
  Patient job({.limit = kLimit});
  job.give(job.take(500 * kMiB));
  job.take(100 * kMiB);
  const Address shared = job.take(300 * kMiB);
  job.take(480 * kMiB);
  job.share(shared, 7);
  job.give(shared);
  job.give(job.take(90 * kMiB));
  job.refuse(300 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::deferred_frees);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(found.ledger.pending, 300 * kMiB);
  EXPECT_EQ(found.ledger.split_free, 100 * kMiB);
  EXPECT_EQ(left_out(found.evidence), "deferred_frees");
}

/// Memory that a pool keeps, under a release whose events name the pool or not.
class DoctorOfPools : public testing::TestWithParam<int> {};

TEST_P(DoctorOfPools, FreeMemoryOfAKeptPoolIsPrivatePools) {
  Patient job({.limit = kLimit, .minor = GetParam()});
  const cache::PoolId pool = job.enter_pool(false);
  job.give_all(job.take_all(2, 300 * kMiB));
  job.leave_pool(pool);
  job.take(300 * kMiB);
  job.refuse(300 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::private_pools);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_EQ(found.ledger.private_free, 600 * kMiB);
  EXPECT_EQ(left_out(found.evidence), "private_pools");
}

TEST_P(DoctorOfPools, WhatAGraphLeavesFreeIsPrivatePools) {
  Patient job({.limit = kLimit, .minor = GetParam()});
  const cache::PoolId pool = job.enter_pool(true);
  const Address input = job.take(40 * kMiB);
  job.give_all(job.take_all(3, 200 * kMiB));
  job.leave_pool(pool);
  job.take(100 * kMiB);
  job.refuse(350 * kMiB);
  job.give(input);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.verdict, Verdict::private_pools);
  EXPECT_EQ(found.ledger.private_free, 600 * kMiB);
}

INSTANTIATE_TEST_SUITE_P(Releases, DoctorOfPools, testing::Values(9, 11, 12, 13));

TEST(DoctorOfAFailure, WhatOnlyEmptyCacheCouldReturnInsideAPoolIsCache) {
  Patient job({.limit = kLimit, .minor = 12});
  job.give_all(job.take_all(2, 300 * kMiB));
  const cache::PoolId pool = job.enter_pool(false);
  job.refuse(500 * kMiB);
  job.leave_pool(pool);
  const SnapshotDiagnosis found = examine(job.snapshot(), kLimit);
  EXPECT_EQ(found.ledger.cached, 600 * kMiB);
  EXPECT_EQ(found.verdict, Verdict::cache);
}

TEST(DoctorOfAFailure, ALimitThatIsJustTooLowIsTheJobsOwn) {
  const std::uint64_t limit = 1000 * kMiB - 256 * kKiB;
  Patient job({.limit = limit});
  job.take_all(2, 450 * kMiB);
  job.refuse(99 * kMiB + 512 * kKiB);  // a segment of 100 MiB
  const SnapshotDiagnosis found = examine(job.snapshot(), limit);
  EXPECT_EQ(found.verdict, Verdict::self_limit);
  EXPECT_EQ(found.also, std::vector<Verdict>());
  EXPECT_EQ(found.fix.kind, fact::FixKind::limit);
  EXPECT_EQ(found.fix.bytes, 1000 * kMiB);
  EXPECT_EQ(kind_of(found.evidence), "replay");
}

TEST(DoctorOfAFailure, TheCauseThatComesFirstIsTheVerdictAndOthersAreNamed) {
  Patient job({.conf = "roundup_power2_divisions:2", .limit = 900 * kMiB});
  job.take_all(6, 65 * kMiB);
  job.give(job.take(192 * kMiB));
  const std::vector<Address> halves = job.take_all(2, 96 * kMiB);
  job.take(96 * kMiB);
  job.give(halves[0]);
  job.refuse(128 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), 900 * kMiB);
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.also, (std::vector{Verdict::rounding, Verdict::self_limit}));
}

TEST(DoctorOfAFailure, AnotherCardIsSeenWithItsOwnLimit) {
  Patient job;
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.take_all(2, 300 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  job.take(150 * kMiB);
  const trace::Snapshot snapshot = job.snapshot();
  EXPECT_EQ(examine(snapshot, 2 * kGiB).verdict, Verdict::fragmentation) << "at its peak";
  const SnapshotDiagnosis smaller = examine(snapshot, kLimit);
  EXPECT_EQ(smaller.verdict, Verdict::fragmentation);
  EXPECT_EQ(smaller.also, std::vector<Verdict>()) << "nobody limited himself";
  EXPECT_EQ(kind_of(smaller.evidence), "packing");
  const SnapshotDiagnosis smallest = examine(snapshot, 600 * kMiB);
  EXPECT_EQ(smallest.verdict, Verdict::capacity);
  EXPECT_EQ(smallest.confidence, fact::Confidence::high);
}

TEST(DoctorOfAFailure, EveryDeviceHasItsOwnVerdict) {
  device::SimOptions cards;
  cards.devices = 2;
  Patient job({.limit = kLimit, .device = cards});
  job.take(100 * kMiB);
  EXPECT_NE(job.core(1).allocate(900 * kMiB, 0), 0U);
  EXPECT_EQ(job.core(1).allocate(200 * kMiB, 0), 0U);
  const trace::Snapshot snapshot = job.snapshot();
  EXPECT_EQ(examine(snapshot, kLimit, 0).verdict, Verdict::healthy);
  EXPECT_EQ(examine(snapshot, kLimit, 1).verdict, Verdict::capacity);
}

}  // namespace
}  // namespace ebb::replay
