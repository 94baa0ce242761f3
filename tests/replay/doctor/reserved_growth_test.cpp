// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/reserved_growth.h"

#include <gtest/gtest.h>

#include "replay/tune/training_job.h"

namespace ebb::replay {
namespace {

using base::kMiB;

Setup setup_of(const Workload& work) {
  Setup setup;
  setup.settings = work.recording.settings;
  setup.profile = *cache::profile_of(work.recording.newest_minor);
  return setup;
}

std::optional<ReservedGrowth> growth_of(const Workload& work) {
  return find_reserved_growth(work, setup_of(work));
}

/// Each step needs a little more than any before it for one thing, and as much less for another:
/// what is live stays the same, and nothing that was freed is large enough.
Workload creeping_job(int steps) {
  RecordedJob job;
  job.take(40 * kMiB);
  for (int step = 0; step < steps; ++step) {
    const auto n = static_cast<std::uint64_t>(step);
    const device::Address one = job.take((30 + 2 * n) * kMiB);
    const device::Address other = job.take((130 - 2 * n) * kMiB);
    job.give(one);
    job.give(other);
  }
  return job.workload();
}

TEST(ReservedGrowth, IsFoundWhereStepsOfOtherSizesFindNothingThatFits) {
  const auto growth = growth_of(creeping_job(16));
  ASSERT_TRUE(growth);
  EXPECT_GT(growth->to, growth->from);
  EXPECT_LE(growth->without_live, growth->to - growth->from);
  EXPECT_LE(growth->live, 202 * kMiB);
  ASSERT_FALSE(growth->sizes.empty());
  std::uint64_t of_sizes = 0;
  for (const GrowingSizes& sizes : growth->sizes) {
    EXPECT_GE(sizes.smallest, 30 * kMiB);
    EXPECT_LE(sizes.largest, 130 * kMiB);
    of_sizes += sizes.bytes;
  }
  EXPECT_LE(of_sizes, growth->without_live);
  EXPECT_GE(2 * of_sizes, growth->without_live);
  EXPECT_EQ(growth->steps.back().peak_reserved, growth->to);
}

TEST(ReservedGrowth, StandsStillOnceEverySizeHasItsPlace) {
  const auto growth = growth_of(creeping_job(16));
  ASSERT_TRUE(growth);
  ASSERT_TRUE(growth->growth.stops_after_steps);
  EXPECT_GE(*growth->growth.stops_after_steps, 2U);
  EXPECT_NE(text_of(growth->growth).find("stands still after"), std::string::npos);
  const base::Json json = to_json(*growth);
  for (const char* key :
       {"from_bytes", "to_bytes", "live_bytes", "without_live_bytes", "sizes", "stops_after_steps"})
    EXPECT_NE(json.find(key), nullptr) << key;
}

TEST(ReservedGrowth, IsNotFoundWhereEveryStepIsTheSame) {
  EXPECT_FALSE(growth_of(TrainingJob().run(std::vector<std::uint64_t>(12, 200))));
}

TEST(ReservedGrowth, IsNotWhatLiveMemoryBrings) {
  TrainingJob job;
  job.leak = 8 * kMiB;
  EXPECT_FALSE(growth_of(job.run(std::vector<std::uint64_t>(12, 200))));
}

TEST(ReservedGrowth, NeedsStepsThatRepeat) {
  RecordedJob job;
  run_randomly(job, 5, 900, 60);
  EXPECT_FALSE(growth_of(job.workload()));
  RecordedJob short_job;
  short_job.give(short_job.take(64 * kMiB));
  EXPECT_FALSE(growth_of(short_job.workload()));
}

}  // namespace
}  // namespace ebb::replay
