// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kMiB;
using fact::Trigger;

fact::Cleanup outcome(std::uint64_t before, std::uint64_t after, double cost,
                      Trigger trigger = Trigger::retained) {
  fact::Cleanup done;
  done.trigger = trigger;
  done.before.rss = before;
  done.after.rss = after;
  done.returned = before - after;
  done.seconds = cost;
  done.after.retained = 0;
  return done;
}

/// What a look at the process finds.
fact::ProcessSample seen(std::uint64_t rss, std::optional<std::uint64_t> retained) {
  fact::ProcessSample sample;
  sample.rss = rss;
  sample.retained = retained;
  return sample;
}

/// Samples every second from `from` on; the second at which it wanted a cleanup, or -1.
int first_wish(CleanupPolicy& policy, int from, int until, std::uint64_t rss,
               std::optional<std::uint64_t> retained) {
  for (int second = from; second < until; ++second)
    if (policy.sampled(second, seen(rss, retained))) return second;
  return -1;
}

TEST(CleanupPolicy, WaitsWhetherTheMemoryStaysUnused) {
  CleanupPolicy policy;
  EXPECT_EQ(first_wish(policy, 10, 60, 1000 * kMiB, 500 * kMiB), 12);
}

TEST(CleanupPolicy, LeavesMemoryThatIsUsedAgainInBetween) {
  CleanupPolicy policy;
  for (int second = 0; second < 60; ++second) {
    const std::uint64_t retained = second % 2 == 0 ? 10 * kMiB : 500 * kMiB;
    EXPECT_FALSE(policy.sampled(second, seen(1000 * kMiB, retained))) << second;
  }
}

TEST(CleanupPolicy, LeavesSmallChange) {
  CleanupPolicy policy;
  EXPECT_EQ(first_wish(policy, 0, 600, 1000 * kMiB, 40 * kMiB), -1) << "less than 64 MiB";
  EXPECT_EQ(first_wish(policy, 0, 600, 10'000 * kMiB, 500 * kMiB), -1) << "less than a tenth";
}

TEST(CleanupPolicy, AsksOneThingAtATime) {
  CleanupPolicy policy;
  ASSERT_EQ(first_wish(policy, 0, 60, 1000 * kMiB, 500 * kMiB), 2);
  EXPECT_EQ(first_wish(policy, 4, 60, 1000 * kMiB, 500 * kMiB), -1);
  EXPECT_FALSE(policy.squeezed(60, Trigger::critical));
  policy.cleaned(61, outcome(1000 * kMiB, 500 * kMiB, 0.01));
  EXPECT_EQ(first_wish(policy, 70, 120, 1000 * kMiB, 500 * kMiB), 72);
}

TEST(CleanupPolicy, TakesAtMostOnePercentOfTheTime) {
  CleanupPolicy policy;
  double spent = 0;
  for (int second = 0; second < 3600; ++second) {
    if (policy.sampled(second, seen(4000 * kMiB, 3000 * kMiB))) {
      spent += 0.5;
      policy.cleaned(second, outcome(4000 * kMiB, 1000 * kMiB, 0.5));
    }
  }
  EXPECT_GT(spent, 0);
  EXPECT_LE(spent, 0.01 * 3600 + 0.5);
}

TEST(CleanupPolicy, WaitsLongerWhenTheMemoryIsNeededAgainAtOnce) {
  CleanupPolicy policy;
  int wishes = 0;
  for (int second = 0; second < 1200; ++second) {
    // Retained all the time but for the second after each cleanup: it comes back at once.
    if (policy.sampled(second, seen(1000 * kMiB, 500 * kMiB))) {
      ++wishes;
      policy.cleaned(second, outcome(1000 * kMiB, 500 * kMiB, 0.001));
    }
  }
  EXPECT_LE(wishes, 12) << "2, 4, 8 ... 300 seconds";
  EXPECT_GE(wishes, 6);
}

/// A job that rebuilds so much memory every 20 seconds, for ten minutes.
struct Rebuilding {
  explicit Rebuilding(std::uint64_t bytes) {
    CleanupPolicy policy;
    bool is_clean = false;
    for (int second = 0; second < 600; ++second) {
      const bool works = second % 20 < 3;
      if (works) is_clean = false;
      const std::uint64_t rss = is_clean ? 50 * kMiB : 50 * kMiB + bytes;
      clean_seconds += is_clean ? 1 : 0;
      if (!policy.sampled(second, seen(rss, works || is_clean ? 0 : bytes))) continue;
      ++cleanups;
      latest = std::max(latest, second % 20);
      is_clean = true;
      policy.cleaned(second, outcome(rss, 50 * kMiB, 0.06));
    }
  }

  int cleanups = 0;
  int latest = 0;  ///< in a cycle
  int clean_seconds = 0;
};

TEST(CleanupPolicy, CleansEveryCycleOfAJobThatRebuildsItsMemory) {
  EXPECT_EQ(Rebuilding(500 * kMiB).cleanups, 30);
}

TEST(CleanupPolicy, LeavesCyclesOutWherePageFaultsWouldTakeTooMuch) {
  const Rebuilding job(1024 * kMiB);
  const double seconds_each = 0.06 + CleanupPolicy::kRefaultSecondsPerByte * 1024 * kMiB;
  EXPECT_LE(job.cleanups * seconds_each, CleanupPolicy::kShareWithRefaults * 600 + seconds_each);
  EXPECT_GE(job.cleanups, 22);
  EXPECT_EQ(job.latest, 5) << "late in a cycle it would be of little use";
  EXPECT_GE(job.clean_seconds, 600 * 0.55);
}

TEST(CleanupPolicy, ComesBackToWhatItCouldNotPayFor) {
  CleanupPolicy policy;
  ASSERT_EQ(first_wish(policy, 0, 60, 4000 * kMiB, 3000 * kMiB), 2);
  policy.cleaned(2, outcome(4000 * kMiB, 1000 * kMiB, 0.5));
  EXPECT_EQ(first_wish(policy, 12, 600, 4000 * kMiB, 3000 * kMiB), 12 + 120)
      << "not after 2 and 60 seconds, but then";
}

TEST(CleanupPolicy, CleansAtRoundsThatLeaveGarbage) {
  CleanupPolicy policy;
  EXPECT_FALSE(policy.round_done(1, 20 * kMiB)) << "too small";
  EXPECT_EQ(policy.round_done(2, 900 * kMiB), Trigger::round);
  policy.cleaned(2, outcome(900 * kMiB, 300 * kMiB, 0.02, Trigger::round));
  EXPECT_FALSE(policy.round_done(12, 310 * kMiB)) << "nothing grew since";
  EXPECT_EQ(policy.round_done(22, 800 * kMiB), Trigger::round);
}

TEST(CleanupPolicy, TriesAgainAtTheNextRoundWhereGarbageWasNotCollected) {
  CleanupPolicy policy;
  ASSERT_EQ(policy.round_done(10, 900 * kMiB), Trigger::round);
  fact::Cleanup missed = outcome(900 * kMiB, 850 * kMiB, 0.02, Trigger::round);
  missed.missed_garbage = true;
  policy.cleaned(20, missed);
  ASSERT_EQ(policy.round_done(30, 850 * kMiB), Trigger::round) << "garbage is no floor";
  policy.cleaned(31, outcome(850 * kMiB, 300 * kMiB, 0.02, Trigger::round));
  EXPECT_FALSE(policy.round_done(40, 310 * kMiB)) << "what is left now is in use";
  policy.cleaned(45, missed);
  EXPECT_EQ(policy.round_done(50, 850 * kMiB), Trigger::round) << "the floor stays where it was";
}

TEST(CleanupPolicy, CleansAtRoundsWhateverWasReturnedBetweenThem) {
  CleanupPolicy policy;
  ASSERT_EQ(first_wish(policy, 0, 60, 1000 * kMiB, 200 * kMiB), 2);
  policy.cleaned(3, outcome(1000 * kMiB, 800 * kMiB, 0.01));  // and collected nothing
  EXPECT_EQ(policy.round_done(30, 800 * kMiB), Trigger::round);
}

TEST(CleanupPolicy, ProbesWhereTheAllocatorCannotTell) {
  CleanupPolicy policy;
  policy.tells_nothing();
  EXPECT_EQ(first_wish(policy, 0, 300, 500 * kMiB, std::nullopt), 60);
  policy.cleaned(60, outcome(500 * kMiB, 490 * kMiB, 0.01, Trigger::growth));
  EXPECT_EQ(first_wish(policy, 61, 3600, 500 * kMiB, std::nullopt), -1) << "it did not grow";
  EXPECT_EQ(first_wish(policy, 3600, 4000, 700 * kMiB, std::nullopt), 3600);
}

TEST(CleanupPolicy, ProbesLessAndLessWhileItReturnsNothing) {
  CleanupPolicy policy;
  policy.tells_nothing();
  int wishes = 0;
  for (int second = 0; second < 36'000; ++second) {
    const auto rss = static_cast<std::uint64_t>(100 + second) * kMiB;  // all of it live
    if (policy.sampled(second, seen(rss, std::nullopt))) {
      ++wishes;
      policy.cleaned(second, outcome(rss, rss, 0.001, Trigger::growth));
    }
  }
  EXPECT_LE(wishes, 17) << "1, 2, 4 ... 60 minutes";
  EXPECT_GE(wishes, 10);
}

TEST(CleanupPolicy, CleansWhateverItCostsWhenMemoryIsCritical) {
  CleanupPolicy policy;
  ASSERT_EQ(policy.squeezed(1, Trigger::critical), Trigger::critical);
  policy.cleaned(2, outcome(1000 * kMiB, 990 * kMiB, 10, Trigger::critical));
  EXPECT_FALSE(policy.squeezed(4, Trigger::critical)) << "but not without a pause";
  EXPECT_EQ(policy.squeezed(8, Trigger::critical), Trigger::critical);
}

TEST(CleanupPolicy, AsksUnderPressureOnlyWhoHasSomethingToGive) {
  CleanupPolicy policy;
  policy.sampled(0, seen(1000 * kMiB, 10 * kMiB));
  EXPECT_FALSE(policy.squeezed(1, Trigger::pressure));
  policy.sampled(2, seen(1000 * kMiB, 50 * kMiB));
  EXPECT_EQ(policy.squeezed(3, Trigger::pressure), Trigger::pressure);
}

/// Malloc holds 20 MiB, and `beside` MiB lie beside it.
fact::ProcessSample beside_malloc(std::uint64_t beside) {
  fact::ProcessSample sample = seen((beside + 20) * kMiB, 5 * kMiB);
  sample.live = 15 * kMiB;
  sample.anon = sample.rss;
  return sample;
}

int first_wish_beside(CleanupPolicy& policy, int from, int until, std::uint64_t beside) {
  for (int second = from; second < until; ++second)
    if (policy.sampled_beside(second, beside_malloc(beside))) return second;
  return -1;
}

TEST(CleanupPolicy, AsksForWhatLiesBesideMallocEverMoreSeldomWhileItIsInUse) {
  CleanupPolicy policy;
  EXPECT_EQ(first_wish_beside(policy, 10, 60, 380), 12);
  fact::Cleanup in_vain = outcome(400 * kMiB, 399 * kMiB, 0.001, Trigger::growth);
  in_vain.after = beside_malloc(379);
  std::vector<int> pauses;
  int last = 13;
  while (last < 3000) {
    policy.cleaned(last, in_vain);
    const int next = first_wish_beside(policy, last + 1, 4000, 380);
    ASSERT_NE(next, -1) << "it may have been freed since, inside the library";
    pauses.push_back(next - last);
    last = next;
  }
  EXPECT_TRUE(std::is_sorted(pauses.begin(), pauses.end()));
  EXPECT_LE(pauses.front(), 10);
  EXPECT_GE(pauses.back(), CleanupPolicy::kLongestStay);
}

TEST(CleanupPolicy, AsksForWhatLiesBesideMallocAgainOnlyWhenThereIsMoreOfIt) {
  CleanupPolicy policy;
  EXPECT_EQ(first_wish_beside(policy, 10, 60, 780), 12);
  fact::Cleanup paid = outcome(800 * kMiB, 400 * kMiB, 0.001, Trigger::growth);
  paid.after = beside_malloc(380);
  policy.cleaned(13, paid);
  EXPECT_EQ(first_wish_beside(policy, 14, 600, 380), -1) << "what is left is in use";
  EXPECT_EQ(first_wish_beside(policy, 600, 700, 580), 602);
}

TEST(CleanupPolicy, TakesAllMemoryForBesideMallocWhereThatTellsNothing) {
  const auto untold = [](std::uint64_t mebibytes) {
    fact::ProcessSample sample;
    sample.rss = sample.anon = mebibytes * kMiB;
    return sample;
  };
  CleanupPolicy policy;
  policy.tells_nothing();
  EXPECT_FALSE(policy.sampled_beside(1, untold(50)));
  EXPECT_FALSE(policy.sampled_beside(10, untold(400)));
  EXPECT_EQ(policy.sampled_beside(12, untold(400)), Trigger::growth);
  fact::Cleanup paid = outcome(400 * kMiB, 80 * kMiB, 0.001, Trigger::growth);
  paid.after = untold(80);
  policy.cleaned(13, paid);
  for (int second = 14; second < 600; ++second)
    EXPECT_FALSE(policy.sampled_beside(second, untold(90))) << second;
  EXPECT_FALSE(policy.sampled_beside(600, untold(300)));
  EXPECT_EQ(policy.sampled_beside(602, untold(300)), Trigger::growth);
  // In use: it is asked again, ever more seldom.
  fact::Cleanup in_vain = outcome(300 * kMiB, 299 * kMiB, 0.001, Trigger::growth);
  in_vain.after = untold(299);
  policy.cleaned(602, in_vain);
  int asked = 0;
  for (int second = 603; second < 1800; ++second) {
    if (!policy.sampled_beside(second, untold(300))) continue;
    ++asked;
    policy.cleaned(second, in_vain);
  }
  EXPECT_GE(asked, 3);
  EXPECT_LE(asked, 12);
}

TEST(CleanupPolicy, LeavesALittleBesideMalloc) {
  CleanupPolicy policy;
  EXPECT_EQ(first_wish_beside(policy, 0, 600, 50), -1);
  fact::ProcessSample unknown = beside_malloc(500);
  unknown.live.reset();
  EXPECT_FALSE(policy.sampled_beside(700, unknown)) << "what lies beside it is not known";
}

}  // namespace
}  // namespace ebb::keep
