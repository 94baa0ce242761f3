// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/steps.h"

#include <gtest/gtest.h>

#include "replay/tune/training_job.h"

namespace ebb::replay {
namespace {

TEST(Steps, AreFoundInTrainingOfOneLength) {
  const Steps steps = find_steps(TrainingJob().run(std::vector<std::uint64_t>(10, 200)));
  EXPECT_TRUE(steps.repeats);
  // What comes before them; the first perhaps in two parts, since the optimiser's state is never
  // freed; not the last, whose gradients were still there.
  EXPECT_GE(steps.count(), 10U);
  EXPECT_LE(steps.count(), 11U);
}

TEST(Steps, AreFoundWhereEveryLengthDiffers) {
  for (const bool keeps : {false, true}) {
    TrainingJob job;
    job.keeps_gradients = keeps;
    const Steps steps = find_steps(job.run(varied_lengths(20)));
    EXPECT_TRUE(steps.repeats);
    EXPECT_GE(steps.count(), 20U);
    EXPECT_LE(steps.count(), 22U);
  }
}

TEST(Steps, AreFoundInAJobThatLeaks) {
  TrainingJob job;
  job.leak = base::kMiB;
  const Steps steps = find_steps(job.run(varied_lengths(20)));
  EXPECT_TRUE(steps.repeats);
  EXPECT_GE(steps.count(), 20U);
}

TEST(Steps, ThatMakeTheStateOfAnOptimiserHappenOnce) {
  const Steps steps = find_steps(TrainingJob().run(varied_lengths(20)));
  EXPECT_EQ(steps.steady, 3U) << "what comes before the steps, and both parts of the first";
}

TEST(Steps, EndWhereTheJobIsTakenDown) {
  RecordedJob job;
  TrainingJob().run(job, varied_lengths(12));
  const Steps whole = find_steps(job.workload());
  for (const cache::SnapshotSegment& segment : cache::segments_of(job.core())) {
    for (const auto& block : segment.blocks) {
      if (block.state == trace::BlockState::active_allocated) job.give(block.address);
    }
  }
  const Steps taken_down = find_steps(job.workload());
  // The last step is whole now, and what frees the weights is none.
  EXPECT_GE(taken_down.count(), whole.count());
  EXPECT_LE(taken_down.count(), whole.count() + 2);
  EXPECT_LT(taken_down.end + 12, job.workload().operations.size());
}

TEST(Steps, AreNotFoundWhereNothingRepeats) {
  RecordedJob job;
  run_randomly(job, 5, 900, 60);
  const Steps steps = find_steps(job.workload());
  EXPECT_FALSE(steps.repeats);
  EXPECT_GT(steps.count(), 4U) << "pieces all the same";
}

TEST(Steps, OfAShortJobAreOne) {
  RecordedJob job;
  job.give(job.take(512));
  const Steps steps = find_steps(job.workload());
  EXPECT_EQ(steps.count(), 1U);
  EXPECT_EQ(steps.begins.front(), 0U);
}

}  // namespace
}  // namespace ebb::replay
