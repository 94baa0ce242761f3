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
  const Setup setup = setup_of(work);
  return find_reserved_growth(work, setup, replay(work, setup));
}

TEST(ReservedGrowth, IsFoundWhereTheRecordingHadLuckWithTheOrderOfItsSteps) {
  const Workload work = job_with_luck();
  const auto growth = growth_of(work);
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->from, replay(work, setup_of(work)).peak_reserved);
  EXPECT_GT(growth->to, growth->from + growth->from / 10);
  EXPECT_GE(growth->worst, growth->to);
  EXPECT_LE(growth->live, 640 * kMiB);
  ASSERT_FALSE(growth->sizes.empty());
  std::uint64_t of_sizes = 0;
  for (const GrowingSizes& sizes : growth->sizes) {
    EXPECT_LE(sizes.smallest, sizes.largest);
    of_sizes += sizes.bytes;
  }
  EXPECT_LE(of_sizes, growth->to - growth->from);
  EXPECT_GE(2 * of_sizes, growth->to - growth->from) << "what drives it is most of it";
  EXPECT_EQ(growth->fan.back().median, growth->to);
  EXPECT_EQ(growth->fan.back().worst, growth->worst);
}

TEST(ReservedGrowth, SaysUntilWhen) {
  const auto growth = growth_of(job_with_luck());
  ASSERT_TRUE(growth);
  ASSERT_TRUE(growth->growth && growth->growth->stops_after_steps);
  EXPECT_EQ(end_text(*growth), text_of(*growth->growth));
  EXPECT_EQ(end_text(*growth).find("stands still after "), 0U);
  const base::Json json = to_json(*growth);
  for (const char* key : {"from_bytes", "to_bytes", "worst_bytes", "live_bytes",
                          "without_live_bytes", "futures", "sizes", "stops_after_steps"})
    EXPECT_NE(json.find(key), nullptr) << key;
}

TEST(ReservedGrowth, SaysWhereItRunsOutOfMemory) {
  ReservedGrowth growth;
  growth.futures = 16;
  growth.out_of_memory = 3;
  growth.growth = Growth{40, 12, 0, 0};
  EXPECT_EQ(end_text(growth),
            "stands still after 12 steps; it runs out of memory in 3 of 16 futures");
  growth.growth.reset();
  growth.out_of_memory = 9;
  EXPECT_EQ(end_text(growth), "runs out of memory in 9 of 16 futures");
  const base::Json json = to_json(growth);
  EXPECT_EQ(json.find("stops_after_steps"), nullptr);
  EXPECT_EQ(json.find("out_of_memory_futures")->text(), "9");
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
