// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "replay/tune/training_job.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

TEST(Tuner, TakesJobsOfDifferentReleases) {
  RecordedJob fresh("large_segment_size_mb:32", 11);
  TrainingJob().run(fresh, varied_lengths(12, 2));
  Workload first = TrainingJob().run(varied_lengths(12));
  first.recording.newest_minor = 10;
  const Workload second = fresh.workload();
  const auto result = tune({&first, &second}, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->jobs[0].later_as_recorded);
  ASSERT_EQ(result->jobs[1].recorded.conf, "large_segment_size_mb:32")
      << "its own release knows it";
  EXPECT_FALSE(result->jobs[1].later_as_recorded) << "the release of the first job does not";
  EXPECT_TRUE(result->jobs[1].later && result->jobs[1].later_by_default);
}

TEST(Tuner, SaysWhereTheReleaseRefusesTheRecordedSettings) {
  RecordedJob job("large_segment_size_mb:32", 11);
  TrainingJob().run(job, varied_lengths(12));
  const Workload work = job.workload();
  TuneOptions options;
  const auto known = tune({&work}, options);
  options.circumstances.profile = *cache::profile_of(10);
  const auto refused = tune({&work}, options);
  ASSERT_TRUE(known && refused);
  EXPECT_FALSE(known->jobs[0].recorded_refused);
  EXPECT_TRUE(known->jobs[0].later_as_recorded);
  EXPECT_TRUE(refused->jobs[0].recorded_refused);
  EXPECT_EQ(refused->jobs[0].recorded.conf, "");
  EXPECT_FALSE(refused->jobs[0].later_as_recorded) << "there is no more than the default's";
}

}  // namespace
}  // namespace ebb::replay
