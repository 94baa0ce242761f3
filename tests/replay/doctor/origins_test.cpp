// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/origins.h"

#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

/// Gives every allocation of the trace the stack of that number, in turn.
void give_stacks(trace::Snapshot& snapshot, std::size_t stacks) {
  trace::Index next = 0;
  for (trace::Event& event : snapshot.traces[0]) {
    if (event.action != trace::Action::alloc) continue;
    event.stack = next++ % static_cast<trace::Index>(stacks);
  }
}

trace::Snapshot with_frames(trace::Snapshot snapshot) {
  snapshot.texts = {"at::empty", "??", "forward", "/site/torch/nn/module.py", "step", "train.py"};
  snapshot.frames = {{0, 1, 0}, {2, 3, 7}, {4, 5, 42}};
  snapshot.stacks = {{0, 1, 2}, {0, 1}, {}};
  return snapshot;
}

std::vector<Origin> origins_in(const trace::Snapshot& snapshot, std::size_t most = 10) {
  const auto workload = workload_of(snapshot, {});
  EXPECT_TRUE(workload);
  const auto last = static_cast<std::uint32_t>(workload->operations.size() - 1);
  return origins_of(snapshot, 0, *workload, live_at(lifetimes_of(*workload), last), most);
}

TEST(Origins, AreTheProgramsOwnFramesWhereThereAreAny) {
  const trace::Snapshot snapshot = with_frames({});
  EXPECT_EQ(frame_lines(snapshot, 0), std::vector<std::string>{"train.py:42 step"});
  EXPECT_EQ(frame_lines(snapshot, 1),
            (std::vector<std::string>{"??:0 at::empty", "/site/torch/nn/module.py:7 forward"}))
      << "the framework's where there is nothing else";
  EXPECT_EQ(frame_lines(snapshot, 1, 1).size(), 1U);
  EXPECT_TRUE(frame_lines(snapshot, 2).empty());
  EXPECT_TRUE(frame_lines(snapshot, trace::kNone).empty());
}

TEST(Origins, AreGroupedByPlaceMostBytesFirst) {
  Patient job;
  job.take_all(2, 10 * kMiB);
  job.take_all(2, 20 * kMiB);
  trace::Snapshot snapshot = with_frames(job.snapshot());
  give_stacks(snapshot, 2);
  const std::vector<Origin> origins = origins_in(snapshot);
  ASSERT_EQ(origins.size(), 2U);
  for (const Origin& origin : origins) {
    EXPECT_EQ(origin.bytes, 30 * kMiB);
    EXPECT_EQ(origin.blocks, 2U);
  }
  EXPECT_EQ(origins_in(snapshot, 1).size(), 1U);
}

TEST(Origins, AreSizesWhereNoStackWasRecorded) {
  Patient job;
  job.take_all(3, 10 * kMiB);
  job.take(50 * kMiB);
  const std::vector<Origin> origins = origins_in(job.snapshot());
  ASSERT_EQ(origins.size(), 2U);
  EXPECT_EQ(origins[0].frames,
            std::vector<std::string>{"requests of 50.0 MiB (no stack recorded)"});
  EXPECT_EQ(origins[1].bytes, 30 * kMiB);
}

TEST(Origins, OfBlocksFromBeforeTheRecordingAreThoseOfTheFinalSegments) {
  Patient job;
  job.take(50 * kMiB);
  job.core().record_history({.clear = true});
  job.take(10 * kMiB);
  trace::Snapshot snapshot = with_frames(job.snapshot());
  for (trace::Segment& segment : snapshot.segments) {
    segment.blocks.front().stack = 0;
  }
  const std::vector<Origin> origins = origins_in(snapshot);
  ASSERT_EQ(origins.size(), 2U);
  EXPECT_EQ(origins[0].frames, std::vector<std::string>{"train.py:42 step"});
  EXPECT_EQ(origins[0].bytes, 50 * kMiB);
}

}  // namespace
}  // namespace ebb::replay
