// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include <gtest/gtest.h>

#include "keep/info.h"
#include "support/fake_allocator.h"

namespace ebb::keep {
namespace {

using base::kMiB;
using sense::MemoryLevel;

class GuardMemoryTest : public testing::Test {
 protected:
  GuardCheck check(double percent) {
    auto checked = guard_memory({85, 90}, cleaner_, [&]() -> base::Result<sense::MemoryInfo> {
      sense::MemoryInfo info;
      info.limit = 1000 * kMiB;
      info.percent = info.fullest_percent = percent;
      return info;
    });
    EXPECT_TRUE(checked);
    return *std::move(checked);
  }

  support::FakeClock clock_;
  support::FakeAllocator heap_{clock_};
  base::ReclaimerRegistry none_;
  Cleaner cleaner_{heap_, none_, [this] { return heap_.rss(); }, clock_};
};

TEST_F(GuardMemoryTest, OnlyWarnsBelowCritical) {
  EXPECT_EQ(check(50).level, MemoryLevel::normal);
  const GuardCheck warned = check(86);
  EXPECT_EQ(warned.level, MemoryLevel::warn);
  EXPECT_FALSE(warned.cleanup);
  EXPECT_EQ(heap_.light_calls, 0);
}

TEST_F(GuardMemoryTest, CleansAtCriticalAndHoldsThePressureUntilAllIsWell) {
  heap_.light_reaches = 40 * kMiB;
  const GuardCheck critical = check(91);
  EXPECT_EQ(critical.level, MemoryLevel::critical);
  ASSERT_TRUE(critical.cleanup);
  EXPECT_EQ(critical.cleanup->measured.returned, 40 * kMiB);
  EXPECT_EQ(critical.change, "pressure on");
  EXPECT_EQ(check(91).change, "") << "already on";
  EXPECT_EQ(check(87).change, "") << "between the thresholds nothing changes";
  EXPECT_EQ(check(50).change, "pressure off");
  EXPECT_EQ(check(50).change, "");
}

TEST_F(GuardMemoryTest, RefusesThresholdsThatAreNotInOrder) {
  for (const sense::MemoryThresholds bad : {sense::MemoryThresholds{90, 85}, {0, 90}, {85, 101}}) {
    const auto checked = guard_memory(bad, cleaner_);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, base::Code::bad_input);
  }
}

TEST_F(GuardMemoryTest, AReadingThatFailsIsPassedOn) {
  const auto checked = guard_memory({}, cleaner_, []() -> base::Result<sense::MemoryInfo> {
    return base::error(base::Code::io, "no /proc here");
  });
  EXPECT_EQ(checked.error().message, "no /proc here");
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
