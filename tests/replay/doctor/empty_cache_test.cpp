// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/empty_cache.h"

#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

constexpr std::uint64_t kCard = 80 * kGiB;

/// Two blocks of 100 and 50 MiB, given back.
void step(Patient& job) {
  const Address large = job.take(100 * kMiB);
  const Address small = job.take(50 * kMiB);
  job.give(large);
  job.give(small);
}

TEST(EmptyCache, InEveryStepIsHarmfulAndItsCostIsTold) {
  Patient job;
  job.take(200 * kMiB);
  for (int i = 0; i < 8; ++i) {
    step(job);
    ASSERT_TRUE(job.core().empty_cache());
  }
  const SnapshotDiagnosis found = examine(job.snapshot(), kCard);
  EXPECT_EQ(found.verdict, Verdict::empty_cache);
  EXPECT_EQ(found.fix.kind, fact::FixKind::code);
  const EmptyCacheUse& use = found.empty_cache;
  EXPECT_EQ(use.calls, 8U);
  EXPECT_EQ(use.released, 8 * 150 * kMiB);
  EXPECT_EQ(use.retaken, 7 * 150 * kMiB);
  EXPECT_EQ(use.driver_calls, 8U * 2 + 7 * 2);
  ASSERT_TRUE(use.seconds);
  EXPECT_GT(*use.seconds, 0) << "from the first segment to the second, eight times";
  EXPECT_NE(found.headline.find("1.0 GiB"), std::string::npos) << found.headline;
  EXPECT_NE(found.findings.back().find("empty_cache was called 8 times"), std::string::npos)
      << found.findings.back();
}

TEST(EmptyCache, BetweenRoundsOfManyStepsIsNoHarm) {
  Patient job;
  job.take(200 * kMiB);
  for (int i = 0; i < 40; ++i) {
    const std::string name = "ProfilerStep#" + std::to_string(i);
    job.annotate(name, true);
    step(job);
    job.annotate(name, false);
    if (i % 10 == 9) {
      ASSERT_TRUE(job.core().empty_cache());
    }
  }
  const SnapshotDiagnosis found = examine(job.snapshot(), kCard);
  EXPECT_EQ(found.empty_cache.calls, 4U);
  EXPECT_EQ(found.empty_cache.steps, 40U);
  EXPECT_FALSE(found.empty_cache.is_harmful());
  EXPECT_EQ(found.verdict, Verdict::healthy);
}

TEST(EmptyCache, OnceOrTwiceIsNoLoop) {
  Patient job;
  job.take(200 * kMiB);
  for (int i = 0; i < 2; ++i) {
    step(job);
    ASSERT_TRUE(job.core().empty_cache());
  }
  const SnapshotDiagnosis found = examine(job.snapshot(), kCard);
  EXPECT_EQ(found.empty_cache.calls, 2U);
  EXPECT_FALSE(found.empty_cache.is_harmful());
  EXPECT_FALSE(has_also(found, Verdict::empty_cache));
}

TEST(EmptyCache, OfWhatIsNotNeededAgainIsNoHarm) {
  Patient job;
  std::vector<Address> held = job.take_all(6, 100 * kMiB);
  for (const Address address : held) {
    job.give(address);
    ASSERT_TRUE(job.core().empty_cache());
  }
  const SnapshotDiagnosis found = examine(job.snapshot(), kCard);
  EXPECT_EQ(found.empty_cache.calls, 6U);
  EXPECT_EQ(found.empty_cache.retaken, 0U);
  EXPECT_FALSE(found.empty_cache.is_harmful());
}

TEST(EmptyCache, BesideAnotherCauseIsNamedToo) {
  Patient job({.limit = kGiB});
  job.take(200 * kMiB);
  for (int i = 0; i < 8; ++i) {
    step(job);
    ASSERT_TRUE(job.core().empty_cache());
  }
  job.refuse(900 * kMiB);
  const SnapshotDiagnosis found = examine(job.snapshot(), kGiB);
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_TRUE(has_also(found, Verdict::empty_cache));
}

TEST(EmptyCache, ThatTheAllocatorCallsItselfIsNotTheJobs) {
  Patient job({.limit = kGiB});
  job.take(200 * kMiB);
  for (int i = 0; i < 8; ++i) {
    job.give(job.take(500 * kMiB));
    job.give(job.take(700 * kMiB));  // does not fit beside the 500: they are given back first
  }
  const SnapshotDiagnosis found = examine(job.snapshot(), kGiB);
  EXPECT_EQ(found.empty_cache.calls, 0U);
  EXPECT_EQ(found.empty_cache.seconds, std::nullopt);
  EXPECT_FALSE(has_also(found, Verdict::empty_cache));
}

}  // namespace
}  // namespace ebb::replay
