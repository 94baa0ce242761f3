// SPDX-License-Identifier: Apache-2.0
#include "replay/workload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "replay/job_builder.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;
using base::kMiB;

std::size_t count(const Workload& work, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(work.operations.begin(), work.operations.end(),
                    [&](const Operation& op) { return op.kind == kind; }));
}

TEST(Workload, HoldsTheRequestsInOrder) {
  RecordedJob job;
  const device::Address a = job.take(3 * kMiB);
  const device::Address b = job.take(700, 5);
  job.give(a);
  job.give(b);
  const Workload work = job.workload();
  ASSERT_EQ(work.operations.size(), 4U);
  EXPECT_EQ(work.requests, 4U);
  EXPECT_EQ(work.operations[0].kind, Kind::allocate);
  EXPECT_EQ(work.operations[0].bytes, 3 * kMiB);
  EXPECT_EQ(work.streams[work.operations[1].stream], 5U);
  EXPECT_EQ(work.operations[2].kind, Kind::free);
  EXPECT_EQ(work.operations[2].block, 0U);
  EXPECT_EQ(work.operations[3].block, 1U);
}

TEST(Workload, KeepsFreesThatWaitForOtherStreams) {
  RecordedJob job;
  const device::Address a = job.take(3 * kMiB);
  job.give_later(a);
  job.take(kMiB);
  job.complete(a);
  job.take(kMiB);
  const Workload work = job.workload();
  EXPECT_EQ(count(work, Kind::free_later), 1U);
  EXPECT_EQ(count(work, Kind::complete), 1U);
}

TEST(Workload, TellsTheJobsEmptyCacheFromTheAllocatorsOwnReleases) {
  RecordedJob job("", 11, 120 * kMiB);
  job.give(job.take(60 * kMiB));
  ASSERT_TRUE(job.core().empty_cache());
  const device::Address kept = job.take(50 * kMiB);
  job.give(job.take(40 * kMiB));
  job.take(45 * kMiB);  // finds its memory by giving the 40 MiB back
  job.give(kept);
  const Workload work = job.workload(120 * kMiB);
  EXPECT_EQ(count(work, Kind::empty_cache), 1U);
  EXPECT_EQ(work.recording.limit_high, (90 + 46) * kMiB);
  EXPECT_EQ(work.recording.limit_low, 96 * kMiB);
}

TEST(Workload, KnowsWhatFailed) {
  RecordedJob job("", 11, 100 * kMiB);
  job.take(60 * kMiB);
  EXPECT_EQ(job.take(70 * kMiB), 0U);
  const Workload work = job.workload();
  EXPECT_EQ(count(work, Kind::failed), 1U);
  EXPECT_EQ(work.recording.ooms, 1U);
  EXPECT_GE(work.recording.largest_oom_free, 70 * kMiB) << "the device itself had room";
  EXPECT_EQ(work.recording.limit_high, 130 * kMiB);
}

TEST(Workload, StartsFromWhatWasThereBeforeTheRecording) {
  RecordedJob job("", 11, cache::kUnlimited, 5);
  const device::Address old = job.take(30 * kMiB);
  for (int i = 0; i < 10; ++i) {
    job.give(job.take(kMiB));
  }
  job.give(old);
  const Workload work = job.workload();
  EXPECT_EQ(work.initial_blocks, 1U);
  EXPECT_FALSE(work.notes.empty());
  EXPECT_EQ(work.operations[0].bytes, 30 * kMiB);
  EXPECT_EQ(work.recording.start_reserved, 32 * kMiB);
}

TEST(Workload, NeedsAHistory) {
  trace::Snapshot empty;
  EXPECT_FALSE(workload_of(empty, {}));
  empty.traces.resize(2);
  EXPECT_FALSE(workload_of(empty, {1, std::nullopt}));
  EXPECT_FALSE(workload_of(empty, {-1, std::nullopt}));
}

}  // namespace
}  // namespace ebb::replay
