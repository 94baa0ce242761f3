// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include <gtest/gtest.h>

#include "keep/info.h"
#include "support/fake_allocator.h"

namespace ebb::keep {
namespace {

using base::kMiB;
using sense::MemoryLevel;

class MemoryGuardTest : public testing::Test {
 protected:
  std::unique_ptr<MemoryGuard> guard() {
    auto made =
        MemoryGuard::create({85, 90}, cleaner_, [this]() -> base::Result<sense::MemoryInfo> {
          sense::MemoryInfo info;
          info.limit = 1000 * kMiB;
          info.percent = info.fullest_percent = percent_;
          return info;
        });
    EXPECT_TRUE(made);
    return *std::move(made);
  }

  double percent_ = 50;
  support::FakeClock clock_;
  support::FakeAllocator heap_{clock_};
  base::ReclaimerRegistry none_;
  Cleaner cleaner_{heap_, none_, [this] { return heap_.rss(); }, clock_};
};

TEST_F(MemoryGuardTest, OnlyWarnsBelowCritical) {
  const auto guard = this->guard();
  EXPECT_EQ(guard->check()->level, MemoryLevel::normal);
  percent_ = 86;
  const auto warned = guard->check();
  EXPECT_EQ(warned->level, MemoryLevel::warn);
  EXPECT_FALSE(warned->cleanup);
  EXPECT_EQ(heap_.light_calls, 0);
}

TEST_F(MemoryGuardTest, CleansAtCriticalAndHoldsThePressureUntilAllIsWell) {
  const auto guard = this->guard();
  percent_ = 91;
  heap_.light_reaches = 40 * kMiB;
  const auto critical = guard->check();
  EXPECT_EQ(critical->level, MemoryLevel::critical);
  ASSERT_TRUE(critical->cleanup);
  EXPECT_EQ(critical->cleanup->returned, 40 * kMiB);
  EXPECT_EQ(heap_.pressure_changes, std::vector<bool>{true});
  percent_ = 87;
  static_cast<void>(guard->check());
  EXPECT_EQ(heap_.pressure_changes.size(), 1U) << "between the thresholds nothing changes";
  percent_ = 50;
  EXPECT_EQ(guard->check()->change, "pressure off");
  EXPECT_EQ(heap_.pressure_changes, (std::vector<bool>{true, false}));
}

TEST_F(MemoryGuardTest, RefusesThresholdsThatAreNotInOrder) {
  for (const sense::MemoryThresholds bad : {sense::MemoryThresholds{90, 85}, {0, 90}, {85, 101}}) {
    const auto made = MemoryGuard::create(bad, cleaner_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, base::Code::bad_input);
  }
}

TEST(MemoryGuardFailure, AReadingThatFailsIsPassedOn) {
  support::FakeClock clock;
  support::FakeAllocator heap(clock);
  base::ReclaimerRegistry none;
  Cleaner cleaner(
      heap, none, [&] { return heap.rss(); }, clock);
  auto guard = MemoryGuard::create({}, cleaner, []() -> base::Result<sense::MemoryInfo> {
    return base::error(base::Code::io, "no /proc here");
  });
  EXPECT_EQ((*guard)->check().error().message, "no /proc here");
}

TEST(Info, TellsThisProcessAndAnotherTheSameAllocator) {
  const auto here = info_here();
  ASSERT_TRUE(here) << here.error().message;
  const auto outside = info_of(getpid());
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_EQ(here->detection.kind(), outside->detection.kind());
  EXPECT_FALSE(outside->heap.live) << "only the process itself can ask its allocator";
  const base::Json json = to_json(*here);
  EXPECT_EQ(json.find("pid")->as_int(), getpid());
  EXPECT_GT(*json.find("limit_bytes")->as_unsigned(), *json.find("rss_bytes")->as_unsigned());
}

}  // namespace
}  // namespace ebb::keep
