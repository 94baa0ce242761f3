// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/foresight.h"

#include <gtest/gtest.h>

#include "replay/doctor/reserved_growth.h"
#include "replay/tune/training_job.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

using base::kMiB;

Setup setup_for(const Workload& work, const std::string& conf) {
  Setup setup;
  setup.profile = *cache::profile_of(work.recording.newest_minor);
  setup.settings = *cache::parse_settings(conf, setup.profile);
  return setup;
}

TEST(Foresight, IsTheSameWhoeverAsks) {
  for (const std::string recorded : {"", "garbage_collection_threshold:0.9"}) {
    SCOPED_TRACE(recorded);
    const Workload work = job_with_luck(recorded);
    const auto setup = setup_for(work, recorded);
    const auto doctor = find_reserved_growth(work, setup, replay(work, setup));
    const auto tuned = tune({&work}, {});
    ASSERT_TRUE(doctor && tuned);
    ASSERT_NE(tuned->jobs[0].best.conf, recorded);
    const Foresight& later = tuned->jobs[0].later_as_recorded.value();
    EXPECT_EQ(later.rule().peak, doctor->to);
    EXPECT_EQ(later.worst().peak, doctor->worst);
    EXPECT_EQ(later.rule().allocated, doctor->live) << "as in what is drawn over the steps";
    EXPECT_EQ(later.futures().size(), doctor->futures);
    ASSERT_TRUE(later.rule().growth && doctor->growth);
    EXPECT_EQ(text_of(*later.rule().growth), text_of(*doctor->growth));
    ASSERT_EQ(later.fan().size(), doctor->fan.size());
    EXPECT_EQ(later.fan().back().least, doctor->fan.back().least);
    if (recorded.empty()) {
      const Foresight& by_default = tuned->jobs[0].later_by_default.value();
      EXPECT_EQ(by_default.worst().peak, doctor->worst);
    }
  }
}

TEST(Foresight, IsTheSameBesideOtherSettings) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  const auto alone = foresee(maker, work.operations.size(), {setup_for(work, "")});
  const auto beside = foresee(maker, work.operations.size(),
                              {setup_for(work, "expandable_segments:True"), setup_for(work, "")});
  ASSERT_EQ(alone.size(), 1U);
  ASSERT_EQ(beside.size(), 2U);
  ASSERT_EQ(alone[0].futures().size(), beside[1].futures().size());
  for (std::size_t i = 0; i < alone[0].futures().size(); ++i) {
    EXPECT_EQ(alone[0].futures()[i].peak, beside[1].futures()[i].peak);
    EXPECT_EQ(alone[0].futures()[i].steps.size(), beside[1].futures()[i].steps.size());
  }
  EXPECT_LT(beside[0].worst().peak, beside[1].worst().peak);
}

TEST(Foresight, GoesOnUntilMemoryHasStoodStillForHalfOfIt) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  const auto later = foresee(maker, work.operations.size(), {setup_for(work, "")}).front();
  std::size_t shortest = later.futures()[0].steps.size();
  std::size_t longest = shortest;
  for (const Followed& future : later.futures()) {
    shortest = std::min(shortest, future.steps.size());
    longest = std::max(longest, future.steps.size());
    EXPECT_GE(future.steps.size(), 4U * 14);
    EXPECT_LE(future.steps.size(), 33U * 16);
    ASSERT_TRUE(future.growth);
    if (!future.growth->stops_after_steps) {
      EXPECT_GE(future.steps.size(), 31U * 15);
    }
    EXPECT_EQ(future.steps.back().peak_reserved, future.peak);
  }
  EXPECT_LT(shortest, longest) << "each is as long as it takes";
  const std::vector<FanStep> fan = later.fan();
  EXPECT_EQ(fan.size(), longest);
  EXPECT_EQ(fan.back().least, later.futures().front().peak);
  EXPECT_EQ(fan.back().median, later.rule().peak);
  EXPECT_EQ(fan.back().worst, later.worst().peak);
}

TEST(Foresight, OfStepsThatNeverDifferIsOneFuture) {
  const Workload work = TrainingJob().run(std::vector<std::uint64_t>(12, 200));
  const FutureMaker maker(work);
  const auto later = foresee(maker, work.operations.size(), {setup_for(work, "")}).front();
  EXPECT_EQ(later.futures().size(), 1U);
  EXPECT_EQ(&later.rule(), &later.worst());
}

TEST(Foresight, KnowsNoLimit) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  auto setup = setup_for(work, "");
  const auto open = foresee(maker, work.operations.size(), {setup}).front();
  setup.limit = 700 * kMiB;
  const auto limited = foresee(maker, work.operations.size(), {setup}).front();
  EXPECT_GT(limited.worst().peak, setup.limit);
  EXPECT_EQ(limited.worst().peak, open.worst().peak);
}

TEST(Foresight, KeepsTheLimitByWhichGarbageIsCollected) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  auto setup = setup_for(work, "garbage_collection_threshold:0.8");
  setup.limit = 700 * kMiB;
  const auto collected = foresee(maker, work.operations.size(), {setup}).front();
  EXPECT_EQ(collected.limit(), setup.limit);
  EXPECT_LE(collected.worst().peak, setup.limit);
  setup.limit = 500 * kMiB;
  const auto tight = foresee(maker, work.operations.size(), {setup}).front();
  EXPECT_EQ(tight.out_of_memory(), tight.futures().size()) << "600 MiB are live";
}

TEST(Foresight, DoesNotJudgeWhatRanOutOfMemoryAsIfItHadGoneOn) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  auto setup = setup_for(work, "garbage_collection_threshold:0.8");
  std::uint64_t mixed = 0;
  for (setup.limit = 100 * kMiB; setup.limit <= 1000 * kMiB; setup.limit += 50 * kMiB) {
    SCOPED_TRACE(setup.limit);
    const auto later = foresee(maker, work.operations.size(), {setup}).front();
    for (const Followed& future : later.futures()) {
      EXPECT_NE(future.out_of_memory, future.growth.has_value());
    }
    const bool all_fail = later.out_of_memory() == later.futures().size();
    EXPECT_NE(all_fail, later.over_live().has_value());
    if (!all_fail) {
      EXPECT_GE(*later.over_live(), 1);
    }
    if (later.out_of_memory() != 0 && !all_fail) ++mixed;
  }
  EXPECT_GT(mixed, 0U) << "some limit serves some futures only";
}

TEST(Foresight, OfWhatFailsAtOnceHasNoSteps) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  auto setup = setup_for(work, "garbage_collection_threshold:0.8");
  setup.limit = 20 * kMiB;
  EXPECT_TRUE(foresee(maker, work.operations.size(), {setup}).front().fan().empty());
}

TEST(Foresight, TellsWhetherAJobGrowsOnAnyCard) {
  const std::string conf = "garbage_collection_threshold:0.8";
  Circumstances small;
  small.limit = 500 * kMiB;
  const Workload steady = job_with_luck();
  TrainingJob leaks;
  leaks.leak = 8 * kMiB;
  const Workload leaking = leaks.run(varied_lengths(12));
  const Outlook outlook({&steady, &leaking}, Objective::memory, small);
  EXPECT_FALSE(outlook.foresee(0, {conf}, {}).front()->rule().growth) << "600 MiB are live";
  EXPECT_FALSE(outlook.grows_without_limit(0, conf, {}));
  EXPECT_TRUE(outlook.grows_without_limit(1, conf, {}));
}

TEST(Foresight, GoesNoFurtherThanFourMillionOperationsOrTheRecording) {
  constexpr std::uint64_t kMillion = 1'000'000;
  EXPECT_EQ(operations_in(kUsualLength, 1000), 4000U);
  EXPECT_EQ(operations_in(kMostLength, 1000), 32'000U);
  EXPECT_EQ(operations_in(kUsualLength, 3 * kMillion), 4 * kMillion);
  EXPECT_EQ(operations_in(kMostLength, 3 * kMillion), 4 * kMillion);
  EXPECT_EQ(operations_in(kUsualLength, 10 * kMillion), 10 * kMillion);
}

TEST(Foresight, EndsWhereItIsToldTo) {
  const Workload work = job_with_luck();
  const FutureMaker maker(work);
  struct Enough {};
  int asked = 0;
  const auto ends = [&](double share) {
    EXPECT_GE(share, 0);
    EXPECT_LT(share, 1);
    if (++asked == 2) throw Enough{};
  };
  EXPECT_THROW(foresee(maker, work.operations.size(), {setup_for(work, "")}, ends), Enough);
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace ebb::replay
