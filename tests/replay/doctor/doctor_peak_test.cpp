// SPDX-License-Identifier: Apache-2.0
// Jobs whose every request was served, and what they hold too much.
#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

std::string evidence_kind(const base::Json& evidence) {
  return *evidence.find("kind")->as_string();
}

TEST(DoctorOfAPeak, AJobThatUsesWhatItHoldsIsHealthy) {
  Patient job;
  job.take_all(4, 100 * kMiB);
  for (int i = 0; i < 10; ++i) {
    job.give(job.take(50 * kMiB));
  }
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_EQ(found.also, std::vector<Verdict>());
  EXPECT_EQ(found.fix.kind, fact::FixKind::none);
  EXPECT_EQ(evidence_kind(found.evidence), "ledger");
}

TEST(DoctorOfAPeak, AHistoryWithoutARequestIsHealthy) {
  Patient job;
  EXPECT_TRUE(job.core().empty_cache());
  job.core().note_snapshot();
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_TRUE(found.origins.empty());
}

TEST(DoctorOfAPeak, MemoryThatNothingUsesAnyMoreIsCache) {
  Patient job;
  job.give_all(job.take_all(10, 100 * kMiB));
  for (int i = 0; i < 100; ++i) {
    job.give(job.take(20 * kMiB));
  }
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::cache);
  EXPECT_EQ(found.fix.kind, fact::FixKind::code);
}

TEST(DoctorOfAPeak, PiecesThatNoRequestFitsAreFragmentation) {
  Patient job;
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  job.take_all(2, 150 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.ledger.reserved, 700 * kMiB);
  EXPECT_EQ(found.ledger.split_free, 200 * kMiB);
  // Requests rounded up in one special way would need less, this once.
  EXPECT_EQ(found.fix.kind, fact::FixKind::none);
  EXPECT_FALSE(found.fixed);
}

TEST(DoctorOfAPeak, PiecesThatExpandableSegmentsJoinAreFragmentationWithAFix) {
  Patient job;
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[1]);
  job.take(200 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.ledger.reserved, 600 * kMiB);
  EXPECT_EQ(found.fix.conf, "expandable_segments:True");
  ASSERT_TRUE(found.fixed);
  EXPECT_EQ(found.fixed->outcome.peak_reserved, 400 * kMiB);
}

TEST(DoctorOfAPeak, RoundingThatCostsMuchIsRounding) {
  Patient job({.conf = "roundup_power2_divisions:2"});
  job.take_all(8, 65 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::rounding);
  EXPECT_EQ(found.headline, "240.0 MiB went into rounding requests up");
}

TEST(DoctorOfAPeak, BlocksThatMayNotBeSplitAreOversize) {
  Patient job({.conf = "max_split_size_mb:64"});
  job.give_all(job.take_all(4, 200 * kMiB));
  job.take_all(16, 50 * kMiB);
  EXPECT_EQ(examine(job.snapshot()).verdict, Verdict::oversize);
}

TEST(DoctorOfAPeak, FreesThatWaitAreDeferredFrees) {
  Patient job;
  for (int i = 0; i < 8; ++i) {
    const Address shared = job.take(100 * kMiB);
    job.share(shared, 7);
    job.give(shared);
  }
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::deferred_frees);
  EXPECT_EQ(found.ledger.pending, 700 * kMiB);
}

TEST(DoctorOfAPeak, PoolsThatDoNotShareArePrivatePools) {
  Patient job;
  for (int i = 0; i < 4; ++i) {
    const cache::PoolId pool = job.enter_pool(true);
    job.give_all(job.take_all(2, 100 * kMiB));
    job.leave_pool(pool);
  }
  EXPECT_EQ(examine(job.snapshot()).verdict, Verdict::private_pools);
}

TEST(DoctorOfAPeak, AHistoryThatBeganLateCountsWhatWasThere) {
  Patient job;
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  const Address waiting = job.take(30 * kMiB);
  job.share(waiting, 7);
  job.give(waiting);
  job.core().record_history({.clear = true});
  job.give(quarters[0]);
  job.give(quarters[2]);
  job.take_all(2, 150 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  const SnapshotDiagnosis smaller = examine(job.snapshot(), 600 * kMiB);
  EXPECT_EQ(smaller.verdict, Verdict::fragmentation);
  EXPECT_EQ(examine(job.snapshot(), 400 * kMiB).verdict, Verdict::capacity);
}

}  // namespace
}  // namespace ebb::replay
