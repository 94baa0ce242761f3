// SPDX-License-Identifier: Apache-2.0
#include "fl/standstill.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/bytes.h"

namespace ebb::fl {
namespace {

constexpr Mappings kLimitOfTrial{base::kGiB, RLIM_INFINITY};

/// A trial as it is looked at, every tenth of a second.
class StepOnTrial {
 public:
  explicit StepOnTrial(const Mappings& limits = kLimitOfTrial) : limits_(limits) {
    now_.state = 'R';
    now_.virtual_size = base::kGiB - 100 * base::kMiB;
  }

  /// What it does in each tenth of a second from now on.
  double computes = 0;
  double is_in_kernel = 0;
  std::uint64_t touches = 0;
  std::uint64_t maps = 0;

  sense::ProcessReading& now() { return now_; }

  /// When it is first found to stand still, in seconds from now; -1 if not within a minute.
  double stands_still_after(double seconds = 60) {
    for (int i = 1; i <= static_cast<int>(seconds * 10 + 0.5); ++i) {
      now_.system_seconds += is_in_kernel;
      now_.cpu_seconds += is_in_kernel + computes;
      now_.minor_faults += touches;
      now_.virtual_size += maps;
      now_.virtual_peak = std::max(now_.virtual_peak.value_or(0), now_.virtual_size);
      seconds_ += 0.1;
      if (rule_.lasts(now_, seconds_, limits_)) return i * 0.1;
    }
    return -1;
  }

 private:
  Standstill rule_;
  const Mappings limits_;
  sense::ProcessReading now_;
  double seconds_ = 0;
};

TEST(Standstill, IsToAskTheKernelAgainAndAgainCloseToALimit) {
  StepOnTrial trial;
  trial.is_in_kernel = 0.09;
  trial.computes = 0.01;
  EXPECT_NEAR(trial.stands_still_after(), 1.3, 0.11) << "after more than a second in the kernel";
}

TEST(Standstill, IsNotToCompute) {
  StepOnTrial trial;
  trial.is_in_kernel = 0.04;
  trial.computes = 0.05;
  EXPECT_EQ(trial.stands_still_after(), -1);
}

TEST(Standstill, IsToSleepCloseToALimit) {
  StepOnTrial trial;
  trial.now().state = 'S';
  EXPECT_NEAR(trial.stands_still_after(), 2.2, 0.11);
}

TEST(Standstill, IsNotToWaitInTheKernelOrForATurn) {
  for (const char state : {'D', 'R', 'T'}) {
    StepOnTrial trial;
    trial.now().state = state;
    EXPECT_EQ(trial.stands_still_after(), -1) << state;
  }
}

TEST(Standstill, EndsWithTheFirstWork) {
  StepOnTrial trial;
  trial.now().state = 'S';
  EXPECT_EQ(trial.stands_still_after(1.9), -1);
  trial.computes = 0.01;
  EXPECT_EQ(trial.stands_still_after(0.1), -1);
  trial.computes = 0;
  EXPECT_EQ(trial.stands_still_after(1.9), -1) << "counted anew";
  EXPECT_GT(trial.stands_still_after(), 0);
}

TEST(Standstill, IsNotToTouchOrMapWhatIsNew) {
  StepOnTrial touching;
  touching.is_in_kernel = 0.1;
  touching.touches = 1;
  EXPECT_EQ(touching.stands_still_after(), -1);
  touching.touches = 0;
  EXPECT_NEAR(touching.stands_still_after(), 1.1, 0.11) << "counted from then on";
  StepOnTrial mapping;
  mapping.is_in_kernel = 0.1;
  mapping.maps = 4096;
  EXPECT_EQ(mapping.stands_still_after(), -1);
}

TEST(Standstill, IsNotThatMemoryGoesBackAndComesAgain) {
  StepOnTrial trial;
  trial.is_in_kernel = 0.1;
  EXPECT_EQ(trial.stands_still_after(0.9), -1);
  trial.now().virtual_size -= 50 * base::kMiB;
  EXPECT_EQ(trial.stands_still_after(0.1), -1);
  trial.now().virtual_size += 50 * base::kMiB;
  EXPECT_GT(trial.stands_still_after(0.3), 0) << "no more than it had at its peak";
}

TEST(Standstill, IsOnlyCloseToALimitOfEitherKind) {
  for (const Mappings limits :
       {Mappings{RLIM_INFINITY, RLIM_INFINITY}, Mappings{2 * base::kGiB, RLIM_INFINITY},
        Mappings{2 * base::kGiB, base::kGiB}, Mappings{RLIM_INFINITY, base::kGiB}}) {
    StepOnTrial trial(limits);
    trial.is_in_kernel = 0.1;
    trial.now().data = 100 * base::kMiB;
    EXPECT_EQ(trial.stands_still_after(), -1);
  }
  StepOnTrial trial(Mappings{RLIM_INFINITY, base::kGiB});
  trial.is_in_kernel = 0.1;
  trial.now().data = base::kGiB - 256 * base::kMiB;
  EXPECT_GT(trial.stands_still_after(), 0);
}

}  // namespace
}  // namespace ebb::fl
