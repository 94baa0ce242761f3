// SPDX-License-Identifier: Apache-2.0
#include "replay/replayer.h"

#include <gtest/gtest.h>

#include "cache/stats_keys.h"
#include "replay/forecast.h"
#include "replay/job_builder.h"
#include "support/effort.h"

namespace ebb::replay {
namespace {

using base::kMiB;

Row recorded_row(const Workload& work) {
  auto row = forecast(work, work.recording.conf, {}, true);
  EXPECT_TRUE(row);
  return std::move(*row);
}

void expect_exact(const Workload& work, RecordedJob& job) {
  const Row row = recorded_row(work);
  EXPECT_TRUE(row.is_recorded);
  EXPECT_EQ(row.check, Check::exact);
  EXPECT_EQ(row.outcome.final_reserved, job.core().reserved());
}

struct Case {
  const char* conf;
  int minor;
};
class AnyJob : public testing::TestWithParam<Case> {};

TEST_P(AnyJob, IsReplayedExactlyUnderItsOwnSettings) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RecordedJob job(GetParam().conf, GetParam().minor);
    run_randomly(job, seed, 3000);
    const Workload work = job.workload();
    EXPECT_TRUE(work.notes.empty());
    expect_exact(work, job);
    const Row row = recorded_row(work);
    EXPECT_EQ(cache::memory_stats(row.outcome.stats, row.outcome.private_reserved, row.profile),
              cache::memory_stats(job.core().stats(), job.core().private_reserved(),
                                  job.core().profile()));
  }
}

/// A ring buffer that forgot the beginning: what happens afterwards is still exact.
TEST_P(AnyJob, IsReplayedFromTheMiddleOfItsHistory) {
  int exact = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RecordedJob job(GetParam().conf, GetParam().minor, cache::kUnlimited, 2500);
    run_randomly(job, seed, 4000);
    const Workload work = job.workload();
    EXPECT_GT(work.initial_blocks, 0U);
    const Row row = recorded_row(work);
    EXPECT_TRUE(row.is_recorded);
    exact += row.check == Check::exact ? 1 : 0;
    EXPECT_FALSE(row.outcome.oom);
  }
  EXPECT_EQ(exact, 8);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AnyJob,
    testing::Values(Case{"", 11}, Case{"expandable_segments:True", 11},
                    Case{"max_split_size_mb:32", 11}, Case{"roundup_power2_divisions:4", 11},
                    Case{"expandable_segments:True,large_segment_size_mb:32", 11}, Case{"", 13},
                    Case{"max_split_size_mb:64,roundup_power2_divisions:8", 13}));

TEST(Replay, SaysWhereALimitIsTooLow) {
  RecordedJob job;
  std::vector<device::Address> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(job.take(30 * kMiB));
  }
  const Workload work = job.workload();
  Circumstances circumstances;
  circumstances.limit = 100 * kMiB;
  const auto row = forecast(work, "", circumstances, true);
  ASSERT_TRUE(row);
  ASSERT_TRUE(row->outcome.oom);
  EXPECT_EQ(row->outcome.oom->requests, 3U);
  EXPECT_EQ(row->outcome.oom->bytes, 30 * kMiB);
  EXPECT_FALSE(row->outcome.oom->recorded);
  EXPECT_FALSE(row->is_recorded) << "the recording had more";
  EXPECT_EQ(row->outcome.events.back(), (SegmentEvent{3, trace::Action::oom, 30 * kMiB}));
}

TEST(Replay, ServesRequestsThatFailedWhereThereIsMoreMemory) {
  RecordedJob job("", 11, 100 * kMiB);
  const device::Address first = job.take(60 * kMiB);
  EXPECT_EQ(job.take(60 * kMiB), 0U);
  job.give(first);
  const Workload work = job.workload(100 * kMiB);
  Circumstances larger;
  larger.limit = 200 * kMiB;
  const auto row = forecast(work, "", larger, true);
  ASSERT_TRUE(row);
  EXPECT_FALSE(row->outcome.oom);
  EXPECT_EQ(row->outcome.rescued, 1U);
  EXPECT_EQ(row->outcome.peak_reserved, 120 * kMiB);
}

TEST(Replay, RefusesSettingsThatPyTorchRefuses) {
  RecordedJob job;
  job.give(job.take(512));
  const Workload work = job.workload();
  EXPECT_FALSE(forecast(work, "max_split_size_mb:oops", {}, false));
  EXPECT_FALSE(forecast(work, "backend:cudaMallocAsync", {}, false));
}

TEST(Replay, GivesARangeWhereAddressesDecide) {
  // Two free blocks of one size in different segments: the lower address is taken, and whether the
  // larger rest then lies beside it depends on where the driver put the segments.
  int ranges = 0;
  const auto seeds = static_cast<unsigned>(support::trials(5, 12));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    RecordedJob job;
    run_randomly(job, seed, 6000, 120);
    const Workload work = job.workload();
    for (const char* conf :
         {"max_split_size_mb:24", "max_split_size_mb:40", "max_split_size_mb:64"}) {
      const auto row = forecast(work, conf, {}, false);
      ASSERT_TRUE(row);
      EXPECT_LE(row->peak.low, row->outcome.peak_reserved);
      EXPECT_GE(row->peak.high, row->outcome.peak_reserved);
      EXPECT_EQ(row->check == Check::exact, row->peak.is_exact());
      ranges += row->check == Check::range ? 1 : 0;
    }
    const auto newer =
        forecast(work, "max_split_size_mb:24", {*cache::profile_of(13), {}, {}}, false);
    ASSERT_TRUE(newer);
    EXPECT_EQ(newer->check, Check::exact) << "from 2.13 on addresses decide nothing";
  }
  EXPECT_GT(ranges, 0);
}

TEST(Replay, StopsWhereItWasToldTo) {
  RecordedJob job;
  for (int i = 0; i < 5; ++i) {
    job.take(30 * kMiB);
  }
  const Workload work = job.workload();
  replay::Setup setup;
  setup.profile = *cache::profile_of(11);
  setup.last_operation = 2;
  setup.keep_segments = true;
  const Outcome outcome = replay(work, setup);
  EXPECT_EQ(outcome.segments.size(), 3U);
  setup.last_operation = static_cast<std::uint32_t>(-1);
  setup.abandon_above = 65 * kMiB;
  EXPECT_TRUE(replay(work, setup).abandoned);
}

}  // namespace
}  // namespace ebb::replay
