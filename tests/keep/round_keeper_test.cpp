// SPDX-License-Identifier: Apache-2.0
#include "keep/round_keeper.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/log.h"
#include "support/child_process.h"
#include "support/fake_allocator.h"
#include "support/process_state.h"

namespace ebb::keep {
namespace {

using base::kMiB;

class RoundKeeperTest : public testing::Test {
 protected:
  std::unique_ptr<RoundKeeper> keeper(const RoundSchedule& schedule, Role role = Role::server) {
    auto made = RoundKeeper::create(role, schedule, cleaner_, clock_);
    EXPECT_TRUE(made);
    return *std::move(made);
  }

  /// The rounds, counted from 0, after which it cleaned.
  std::vector<int> fires(RoundKeeper& keeper, int rounds) {
    std::vector<int> fired;
    for (int round = 0; round < rounds; ++round)
      if (keeper.round_done()) fired.push_back(round);
    return fired;
  }

  support::FakeClock clock_;
  support::FakeAllocator heap_{clock_};
  base::ReclaimerRegistry reclaimers_;
  Cleaner cleaner_{heap_, reclaimers_, [this] { return heap_.rss(); }, clock_};
};

TEST_F(RoundKeeperTest, EveryFifthRoundFiresAfterRoundsFourAndNine) {
  EXPECT_EQ(fires(*keeper({.every = 5}), 12), (std::vector<int>{4, 9}));
}

TEST_F(RoundKeeperTest, CountsAsNvflaresWorkflowsDo) {
  EXPECT_EQ(fires(*keeper({.every = 1}), 3).size(), 3U);
  EXPECT_EQ(fires(*keeper({.every = 2}), 4).size(), 2U);
  EXPECT_EQ(fires(*keeper({.every = 3}), 6).size(), 2U) << "and on the final round";
  EXPECT_EQ(fires(*keeper({.every = 10}), 9).size(), 0U);
}

TEST_F(RoundKeeperTest, CountsOnInAChildForkedAtAnyMoment) {
  const auto kept = keeper({.every = 1'000'000'000});
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop)
      static_cast<void>(kept->round_done());
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(support::holds_in_child([&] {
      const std::uint64_t before = kept->rounds();
      static_cast<void>(kept->round_done());
      return kept->rounds() == before + 1;
    }));
  }
  stop = true;
  busy.join();
}

TEST_F(RoundKeeperTest, ZeroIsOffAndDoesNotCount) {
  const auto off = keeper({.every = 0});
  EXPECT_TRUE(fires(*off, 5).empty());
  EXPECT_FALSE(off->round_done(4));
  EXPECT_EQ(off->rounds(), 0U);
  EXPECT_EQ(heap_.light_calls, 0);
}

TEST_F(RoundKeeperTest, NegativeIsRefused) {
  const auto made = RoundKeeper::create(Role::client, {.every = -1}, cleaner_, clock_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::Code::bad_input);
  EXPECT_NE(made.error().message.find("got -1"), std::string::npos);
}

TEST_F(RoundKeeperTest, ANumberedRoundFiresOnceHoweverOftenItIsAnnounced) {
  const auto five = keeper({.every = 5});
  for (std::uint64_t round = 0; round < 4; ++round)
    EXPECT_FALSE(five->round_done(round));
  EXPECT_TRUE(five->round_done(4));
  EXPECT_FALSE(five->round_done(4)) << "ROUND_DONE and the next ROUND_STARTED both say it";
  EXPECT_FALSE(five->round_done(5));
  EXPECT_EQ(five->rounds(), 6U);
}

TEST_F(RoundKeeperTest, ForwardsTheDeviceCacheFlagBothWays) {
  int emptied = 0;
  class Emptier final : public base::Reclaimer {
   public:
    explicit Emptier(int& count) : count_(count) {}
    base::Reclaimed reclaim() override {
      ++count_;
      return {};
    }

   private:
    int& count_;
  };
  reclaimers_.add("cuda", base::Stage::device_cache, std::make_shared<Emptier>(emptied));
  fires(*keeper({.every = 1, .cuda_empty_cache = false}), 3);
  EXPECT_EQ(emptied, 0);
  fires(*keeper({.every = 1, .cuda_empty_cache = true}), 3);
  EXPECT_EQ(emptied, 3);
}

TEST_F(RoundKeeperTest, LogsOneLineWhenItFiresAndNoneWhenItDoesNot) {
  std::vector<std::string> lines;
  const support::ScopedLog log(
      base::LogLevel::info,
      [](base::LogLevel, std::string_view line, void* into) {
        static_cast<std::vector<std::string>*>(into)->emplace_back(line);
      },
      &lines);
  fires(*keeper({.every = 2}, Role::aggregator), 3);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("aggregator memory cleanup at round 2: returned"));
}

TEST_F(RoundKeeperTest, CriticalCleansWhateverTheSchedule) {
  const auto off = keeper({.every = 0});
  heap_.light_reaches = 40 * kMiB;
  EXPECT_EQ(off->critical().measured.returned, 40 * kMiB);
}

TEST_F(RoundKeeperTest, AutomaticSpendsAtMostOnePercentOfTheJobsTime) {
  const auto automatic = keeper({.automatic = true});
  heap_.seconds_per_give_back = 0.05;
  double spent = 0;
  int fired = 0;
  for (int round = 0; round < 2000; ++round) {
    clock_.advance_seconds(1);
    heap_.light_reaches += 60 * kMiB;
    if (const auto report = automatic->round_done()) {
      spent += report->measured.seconds;
      ++fired;
    }
  }
  EXPECT_GT(fired, 50) << "it pays, so it happens";
  EXPECT_LE(spent, 0.0101 * 2000 + 0.05) << "the first probe may come before its budget";
}

TEST_F(RoundKeeperTest, AutomaticHoldsBackWhileCleanupsReturnLittle) {
  const auto automatic = keeper({.automatic = true});
  int fired = 0;
  for (int round = 0; round < 1000; ++round) {
    clock_.advance_seconds(10);
    heap_.live += 40 * kMiB;  // a leak: nothing to give back, however often one tries
    if (automatic->round_done()) ++fired;
  }
  EXPECT_GE(fired, 3);
  EXPECT_LE(fired, 25) << "pauses double up to 64 rounds";
}

TEST_F(RoundKeeperTest, AutomaticLeavesASmallProcessAlone) {
  heap_.live = 10 * kMiB;
  EXPECT_TRUE(fires(*keeper({.automatic = true}), 100).empty());
}

}  // namespace
}  // namespace ebb::keep
