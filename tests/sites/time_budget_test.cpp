// SPDX-License-Identifier: Apache-2.0
#include "sites/time_budget.h"

#include <gtest/gtest.h>

namespace ebb::sites {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// A process that allocates at a steady pace, at a clock of its own.
class Allocating {
 public:
  Allocating() { budget_.begin(now_); }

  /// Samples cost 20 us; so many a second would be taken at the shortest distance. Asks ten times a
  /// second without one, as threads do that allocate. The share of the time that it took.
  double run(double per_second, double seconds) {
    double due = 0;
    std::uint64_t spent = 0;
    const std::uint64_t from = now_;
    const auto until = from + static_cast<std::uint64_t>(seconds * 1e9);
    for (std::uint64_t asked = now_; now_ < until; now_ += kMs) {
      due += per_second / 1000 / static_cast<double>(std::uint64_t{1} << shift.load());
      for (; due >= 1; --due, spent += 20'000)
        budget_.keep(now_, 20'000, shift);
      if (now_ - asked < 100 * kMs) continue;
      budget_.keep(now_, 0, shift);
      asked = now_;
    }
    return static_cast<double>(spent) / static_cast<double>(now_ - from);
  }

  std::atomic<std::uint64_t> shift{0};

 private:
  TimeBudget budget_;
  std::uint64_t now_ = 5'000 * kMs;
};

TEST(TimeBudget, LeavesTheDistanceAloneWhereSamplesAreFew) {
  Allocating process;
  process.run(40, 10);
  EXPECT_EQ(process.shift, 0U);
}

TEST(TimeBudget, WidensItUntilSamplingCostsLittle) {
  Allocating process;
  process.run(100'000, 2);
  EXPECT_LT(process.run(100'000, 10), 0.005);
  EXPECT_GE(process.shift, 9U) << "a 400th of them";
}

TEST(TimeBudget, NarrowsItSoonAfterABusyBeginning) {
  Allocating process;
  process.run(1'000'000, 2);
  ASSERT_GE(process.shift, 10U);
  process.run(2, 4);
  EXPECT_EQ(process.shift, 0U) << "long before so wide a distance would have passed";
}

TEST(TimeBudget, IsWideAtMost) {
  Allocating process;
  process.run(1e9, 1);
  EXPECT_EQ(process.shift, 14U);
}

}  // namespace
}  // namespace ebb::sites
