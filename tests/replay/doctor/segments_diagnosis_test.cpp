// SPDX-License-Identifier: Apache-2.0
// What is said of snapshots that have segments and no history.
#include <gtest/gtest.h>

#include <map>

#include "cache/stats_keys.h"
#include "replay/doctor/doctor_patient.h"
#include "replay/job.h"

namespace ebb::replay {
namespace {

trace::Snapshot without_history(Patient& job) {
  job.core().record_history({.enabled = false, .clear = true});
  trace::Snapshot snapshot = job.snapshot();
  EXPECT_TRUE(history_of(snapshot, 0).empty());
  return snapshot;
}

SnapshotDiagnosis look_at(const trace::Snapshot& snapshot, int device = 0) {
  const auto work = workload_of(snapshot, {device, std::nullopt, true});
  EXPECT_TRUE(work) << work.error().message;
  if (!work) return {};
  const auto diagnosis = diagnose(snapshot, device, *work, {});
  EXPECT_TRUE(diagnosis);
  return diagnosis ? *diagnosis : SnapshotDiagnosis{};
}

std::uint64_t evidence(const SnapshotDiagnosis& diagnosis, const char* key) {
  return diagnosis.evidence.find(key)->as_unsigned().value();
}

bool finds(const SnapshotDiagnosis& diagnosis, const std::string& words) {
  for (const std::string& finding : diagnosis.findings)
    if (finding.find(words) != std::string::npos) return true;
  return false;
}

std::uint64_t sum_of(const Ledger& ledger) {
  return ledger.needed + ledger.rounding + ledger.oversize + ledger.pending + ledger.private_free +
         ledger.split_free + ledger.cached;
}

TEST(SegmentsDiagnosis, PiecesBesideLiveBlocksAreFragmentation) {
  Patient job;
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  const SnapshotDiagnosis found = look_at(without_history(job));
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.confidence, fact::Confidence::medium);
  EXPECT_EQ(found.fix.conf, "expandable_segments:True");
  EXPECT_EQ(*found.evidence.find("kind")->as_string(), "segments");
  EXPECT_EQ(evidence(found, "inactive_split_bytes"), 200 * kMiB);
  EXPECT_EQ(evidence(found, "largest_free_bytes"), 100 * kMiB);
  EXPECT_NEAR(*found.evidence.find("fragmentation_percent")->as_double(), 50, 0.01);
  EXPECT_TRUE(finds(found, "fragmentation 50.0 %: 200.0 MiB allocated, 200.0 MiB in inactive"));
  EXPECT_TRUE(finds(found, "no history was recorded"));
  ASSERT_EQ(found.origins.size(), 1U);
  EXPECT_EQ(found.origins[0].blocks, 2U);
  EXPECT_EQ(found.origins[0].bytes, 200 * kMiB);
}

TEST(SegmentsDiagnosis, ExpandableSegmentsAreNotAdvisedTwice) {
  Patient job({.conf = "expandable_segments:True"});
  const std::vector<Address> pieces = job.take_all(40, 5 * kMiB);
  for (std::size_t i = 0; i < pieces.size(); i += 2) {
    job.give(pieces[i]);
  }
  const SnapshotDiagnosis found = look_at(without_history(job));
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.fix.conf, std::nullopt);
  EXPECT_EQ(evidence(found, "inactive_split_bytes"), 0U) << "PyTorch does not count them there";
}

TEST(SegmentsDiagnosis, WholeSegmentsThatAreFreeAreCache) {
  Patient job;
  job.take(100 * kMiB);
  job.give(job.take(300 * kMiB));
  const SnapshotDiagnosis found = look_at(without_history(job));
  EXPECT_EQ(found.verdict, Verdict::cache);
  EXPECT_EQ(found.confidence, fact::Confidence::low) << "the next request may need them";
  EXPECT_EQ(found.ledger.cached, 300 * kMiB);
}

TEST(SegmentsDiagnosis, TheLargestPartThatCannotBeUsedIsTheVerdict) {
  Patient job({.conf = "roundup_power2_divisions:2"});
  job.take(65 * kMiB);  // 96 MiB
  const Address shared = job.take(24 * kMiB);
  job.share(shared, 7);
  job.give(shared);
  const SnapshotDiagnosis found = look_at(without_history(job));
  EXPECT_EQ(found.verdict, Verdict::rounding);
  EXPECT_TRUE(has_also(found, Verdict::deferred_frees));
  EXPECT_EQ(found.ledger.rounding, 31 * kMiB);
  EXPECT_EQ(found.ledger.pending, 24 * kMiB);
}

TEST(SegmentsDiagnosis, AJobThatUsesWhatItHoldsIsHealthy) {
  Patient job;
  job.take_all(4, 100 * kMiB);
  const SnapshotDiagnosis found = look_at(without_history(job));
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_TRUE(found.also.empty());
  EXPECT_EQ(found.fix.kind, fact::FixKind::none);
}

TEST(SegmentsDiagnosis, CountsAsTheAllocatorItself) {
  Patient job;
  std::vector<Address> blocks;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    blocks.push_back(job.take(i * i * 3000, i % 3));
  }
  for (std::size_t i = 0; i < blocks.size(); i += 3) {
    job.give(blocks[i]);
  }
  std::map<std::string, std::int64_t> stats;
  for (const auto& [key, value] : cache::memory_stats(
           job.core().stats(), job.core().private_reserved(), job.core().profile())) {
    stats[key] = value;
  }
  const SnapshotDiagnosis found = look_at(without_history(job));
  for (const std::string key :
       {"reserved_bytes", "allocated_bytes", "active_bytes", "inactive_split_bytes"}) {
    EXPECT_EQ(static_cast<std::int64_t>(evidence(found, key.c_str())),
              stats.at(key + ".all.current"))
        << key;
  }
  EXPECT_EQ(sum_of(found.ledger), found.ledger.reserved);
}

TEST(SegmentsDiagnosis, RealSegmentsTellWhereTheirBlocksComeFrom) {
  const std::string path =
      std::string(EBB_TEST_DATA) + "/torch-2.11/untraced/prefetch_streams.pickle.gz";
  const auto jobs = read_jobs(path, std::nullopt, std::nullopt, {}, History::optional);
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  const auto found = diagnose(*jobs->front().snapshot, 0, jobs->front().workload, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::cache);
  EXPECT_EQ(sum_of(found->ledger), found->ledger.reserved);
  ASSERT_FALSE(found->origins.empty());
  EXPECT_NE(found->origins[0].frames[0].find("collect.py"), std::string::npos);
}

TEST(SegmentsDiagnosis, ReplayWantsAHistoryAndSaysHowToGetOne) {
  Patient job;
  job.take(100 * kMiB);
  const trace::Snapshot snapshot = without_history(job);
  const auto refused = workload_of(snapshot, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::bad_input);
  EXPECT_EQ(refused.error().message,
            "the snapshot has no history, expected one that "
            "torch.cuda.memory._record_memory_history(max_entries=1000000) recorded from the start "
            "of the job on");
  const auto elsewhere = workload_of(snapshot, {3, std::nullopt, true});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message,
            "device 3: the snapshot has neither a history nor segments of it");
}

}  // namespace
}  // namespace ebb::replay
