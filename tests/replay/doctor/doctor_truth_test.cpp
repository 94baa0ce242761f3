// SPDX-License-Identifier: Apache-2.0
// Recorded runs of PyTorch that ended out of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "replay/doctor/certificate_history.h"
#include "replay/doctor/certificate_replay.h"
#include "replay/doctor/doctor_patient.h"
#include "replay/doctor/stats_diagnosis.h"
#include "replay/recorded_run.h"
#include "replay/tune/tuner.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {
namespace {

std::vector<RecordedRun> failed_runs() {
  std::vector<RecordedRun> runs = recorded_runs(EBB_TORCH_RUNS);
  std::erase_if(runs, [](const RecordedRun& run) { return !run.ran_out; });
  return runs;
}

/// Most bytes that the job needed at once, from the recording alone.
std::uint64_t most_needed(const KnownBlocks& known) {
  std::map<std::int64_t, std::int64_t> changes;
  for (const auto& [name, block] : known) {
    changes[block.begin] += static_cast<std::int64_t>(block.needed());
    changes[block.freed] -= static_cast<std::int64_t>(block.needed());
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const auto& [event, change] : changes) {
    live += change;
    most = std::max(most, live);
  }
  return static_cast<std::uint64_t>(most);
}

class DoctorOfFailedRuns : public testing::TestWithParam<RecordedRun> {};

TEST_P(DoctorOfFailedRuns, NamesTheCauseAndAFixThatFits) {
  const RecordedRun& run = GetParam();
  const auto snapshot = trace::read_snapshot(run.pickle);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const SnapshotDiagnosis found = examine(*snapshot, run.cap);
  const std::uint64_t needed = most_needed(blocks_in(*snapshot, 0));
  const bool too_much = needed > *run.cap;
  EXPECT_EQ(found.verdict, too_much ? Verdict::capacity : Verdict::fragmentation);
  EXPECT_EQ(*found.evidence.find("kind")->as_string(), too_much ? "live_set" : "packing");
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_TRUE(has_also(found, Verdict::self_limit)) << "the device had more than 100 GiB free";
  EXPECT_FALSE(has_also(found, Verdict::leak));
  ASSERT_TRUE(found.fixed);
  EXPECT_EQ(
      why_not_replayed(*snapshot, 0, run.cap, base::Json::object({{"row", to_json(*found.fixed)}})),
      "");
  std::printf("| %s | %s | %s | %s | %s | %s |\n", run.name().c_str(),
              base::bytes_text(*run.cap).c_str(), base::bytes_text(needed).c_str(),
              name_of(found.verdict), found.evidence.find("kind")->as_string()->c_str(),
              found.fix.text.c_str());
}

/// Numbers at the end cannot prove what a history can: these are the runs where they mislead.
bool misleads(const RecordedRun& run) {
  return run.name() == "decode_growing_kv.captight" || run.name() == "resnet50_multiscale.captight";
}

TEST_P(DoctorOfFailedRuns, StatisticsAloneMostlyNameTheSameCause) {
  const RecordedRun& run = GetParam();
  base::Json json = base::Json::object();
  for (const auto& [key, value] : run.stats)
    json.set(key, value);
  const auto stats = read_stats(json, run.name());
  ASSERT_TRUE(stats) << stats.error().message;
  const StatsDiagnosis told = diagnose(*stats);
  EXPECT_GT(told.stats.ooms, 0U);
  EXPECT_EQ(told.confidence, fact::Confidence::low);
  const auto snapshot = trace::read_snapshot(run.pickle);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(told.verdict == examine(*snapshot, run.cap).verdict, !misleads(run))
      << name_of(told.verdict);
}

std::string test_name(const testing::TestParamInfo<RecordedRun>& info) {
  std::string name = info.param.name();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, DoctorOfFailedRuns, testing::ValuesIn(failed_runs()), test_name);

TEST(DoctorOfRecordedRuns, AdvisesWhatTuneAnswers) {
  const auto snapshot = trace::read_snapshot(EBB_TORCH_RUNS "/prefetch_streams.default.pickle.gz");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const auto workload = workload_of(*snapshot, {});
  ASSERT_TRUE(workload) << workload.error().message;
  const auto tuned = tune({&*workload}, {});
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(examine(*snapshot).fix.conf, conf_of(tuned->knobs));
}

TEST(DoctorOfRecordedRuns, FindsALimitWhereNobodySaysIt) {
  for (const char* name : {"prefetch_streams.capexpandable", "fl_resnet18.captight"}) {
    const auto snapshot =
        trace::read_snapshot(EBB_TORCH_RUNS "/" + std::string(name) + ".pickle.gz");
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    const SnapshotDiagnosis found = examine(*snapshot);
    EXPECT_EQ(found.verdict, Verdict::fragmentation) << name;
    EXPECT_EQ(found.confidence, fact::Confidence::medium) << name;
    EXPECT_TRUE(has_also(found, Verdict::self_limit)) << name;
  }
}

struct RecordedLeak {
  const char* name;
  const char* place;
  double bytes_per_step;
};

class DoctorOfRecordedLeaks : public testing::TestWithParam<RecordedLeak> {};

TEST_P(DoctorOfRecordedLeaks, NamesTheLineThatTookWhatIsKept) {
  const RecordedLeak& leak = GetParam();
  const auto snapshot = trace::read_snapshot(std::string(EBB_TEST_DATA "/torch-2.11/leaks/") +
                                             leak.name + ".pickle.gz");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const SnapshotDiagnosis found = examine(*snapshot);
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  const auto growing = found.sites.growing_place();
  ASSERT_TRUE(growing);
  EXPECT_EQ(growing->text, leak.place);
  ASSERT_FALSE(found.sites.sites.empty());
  const auto& first = found.sites.sites.front();
  EXPECT_EQ(fact::place_of(first.frames), leak.place);
  ASSERT_TRUE(first.growth);
  EXPECT_NEAR(first.growth->per_step, leak.bytes_per_step, 0.01 * leak.bytes_per_step);
  for (const std::string& finding : found.findings)
    EXPECT_EQ(finding.find("though live memory does not"), std::string::npos) << finding;
}

INSTANTIATE_TEST_SUITE_P(OfAnH200, DoctorOfRecordedLeaks,
                         testing::Values(RecordedLeak{"graph", "leak.py:19 forward",
                                                      12.125 * (1 << 20)},
                                         RecordedLeak{"hook", "leak.py:30 keep", 4.0 * (1 << 20)}),
                         [](const auto& leak) { return std::string(leak.param.name); });

}  // namespace
}  // namespace ebb::replay
