// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include <gtest/gtest.h>

#include "keep/info.h"
#include "support/fake_allocator.h"
#include "support/process_state.h"

namespace ebb::keep {
namespace {

using base::kGiB;
using base::kMiB;
using sense::MemoryLevel;

/// A framework's cache on a card of 100 GiB.
class DeviceCache final : public base::Reclaimer {
 public:
  fact::CardSample card{0, {.total = 100 * kGiB, .free = 100 * kGiB}};
  int emptied = 0;

  void hold(std::uint64_t used, std::uint64_t cached) {
    card.memory = {100 * kGiB, 100 * kGiB - used - cached, used + cached, cached};
  }
  base::Reclaimed reclaim() override {
    ++emptied;
    const std::uint64_t before = card.memory.reserved;
    hold(before - card.memory.cached, 0);
    base::Reclaimed done;
    done.devices.push_back(base::DeviceChange::between(0, before, card.memory.reserved));
    return done;
  }
};

/// What the log says meanwhile.
struct Heard {
  std::vector<std::string> lines;
  support::ScopedLog log{base::LogLevel::warning,
                         [](base::LogLevel, std::string_view line, void* to) {
                           static_cast<std::vector<std::string>*>(to)->emplace_back(line);
                         },
                         &lines};
};

class GuardTest : public testing::Test {
 protected:
  GuardTest() {
    registry_.add("collector", base::Stage::collector, collector_);
    registry_.add("cache", base::Stage::device_cache, device_);
  }

  GuardCheck check(double percent, const GuardRequest& request = {.thresholds = {85, 90}}) {
    percent_ = percent;
    auto checked = guard_.check(request);
    EXPECT_TRUE(checked);
    return *std::move(checked);
  }

  /// With cards, at the end of a round.
  GuardCheck round_done(std::uint64_t round, const CardBounds& bounds = {}) {
    return check(41, {{85, 90}, bounds, CardPolicy::Moment::round_end, round});
  }

  double percent_ = 0;
  bool has_cards_ = true;
  support::FakeClock clock_;
  support::FakeAllocator heap_{clock_};
  base::ReclaimerRegistry registry_;
  std::shared_ptr<DeviceCache> collector_ = std::make_shared<DeviceCache>();  // to be counted
  std::shared_ptr<DeviceCache> device_ = std::make_shared<DeviceCache>();
  Cleaner cleaner_{heap_, registry_, [this] { return heap_.rss(); }, clock_};
  Guard guard_{cleaner_,
               [this] {
                 if (!has_cards_) return CardsSeen{.trouble = "no driver"};
                 return CardsSeen{.cards = {device_->card}, .tells_caches = true};
               },
               [this]() -> base::Result<sense::MemoryInfo> {
                 sense::MemoryInfo info;
                 info.limit = 1000 * kMiB;
                 info.percent = info.fullest_percent = percent_;
                 return info;
               }};
};

TEST_F(GuardTest, NamesRoundRamAndCardInOneLine) {
  Heard heard;
  device_->hold(92 * kGiB, 0);
  EXPECT_FALSE(round_done(12).cleanup);
  EXPECT_EQ(heard.lines, std::vector<std::string>{"round 12: RAM at 41 %, GPU 0 at 92 %"});
  device_->hold(10 * kGiB, 0);
  round_done(13);
  device_->hold(93 * kGiB, 0);
  check(86, {{85, 90}, CardBounds{}, CardPolicy::Moment::round_end, 14});
  ASSERT_EQ(heard.lines.size(), 2U) << "both are at warn: one line";
  EXPECT_EQ(heard.lines.back(), "round 14: RAM at 86 %, GPU 0 at 93 %");
}

TEST_F(GuardTest, EmptiesDeviceCachesAloneWhereOnlyACardIsFull) {
  std::vector<fact::Cleanup> announced;
  cleaner_.observe([&](const fact::Cleanup& done) { announced.push_back(done); });
  device_->hold(60 * kGiB, 38 * kGiB);
  const GuardCheck done = round_done(3);
  EXPECT_EQ(done.level, MemoryLevel::normal) << "of the host";
  ASSERT_TRUE(done.cleanup);
  EXPECT_EQ(done.cleanup->measured.devices,
            (std::vector<base::DeviceChange>{{0, 98 * kGiB, 60 * kGiB, 38 * kGiB}}));
  EXPECT_EQ(done.cards.cards.front().memory.cached, 38 * kGiB) << "as it was found";
  EXPECT_EQ(collector_->emptied + heap_.light_calls, 0) << "nothing else was touched";
  ASSERT_EQ(announced.size(), 1U);
  EXPECT_EQ(announced.front().trigger, fact::Trigger::card);
  EXPECT_FALSE(round_done(4).cleanup) << "it has room now";
}

TEST_F(GuardTest, DoesNotRepeatWhatWasTakenAgain) {
  for (std::uint64_t round = 0; round < 4; ++round) {
    device_->hold(60 * kGiB, 38 * kGiB);
    round_done(round);
  }
  EXPECT_EQ(device_->emptied, 1);
}

TEST_F(GuardTest, KeepsHeadroom) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    device_->hold(60 * kGiB, 25 * kGiB);
    round_done(round, {.headroom = 20 * kGiB});
  }
  EXPECT_EQ(device_->emptied, 3);
}

TEST_F(GuardTest, LeavesCardsAloneBetweenRoundsAndWhereNobodyAsks) {
  device_->hold(60 * kGiB, 38 * kGiB);
  EXPECT_FALSE(check(41, {.thresholds = {85, 90}, .cards = CardBounds{}}).cleanup);
  const GuardCheck unasked = check(41);
  EXPECT_TRUE(unasked.cards.cards.empty());
  EXPECT_EQ(device_->emptied, 0);
}

TEST_F(GuardTest, SaysWhyNoCardIsKnown) {
  has_cards_ = false;
  const GuardCheck done = round_done(0);
  EXPECT_TRUE(done.cards.cards.empty());
  EXPECT_EQ(done.cards.trouble, "no driver");
}

TEST_F(GuardTest, OnlyWarnsBelowCritical) {
  EXPECT_EQ(check(50).level, MemoryLevel::normal);
  const GuardCheck warned = check(86);
  EXPECT_EQ(warned.level, MemoryLevel::warn);
  EXPECT_FALSE(warned.cleanup);
  EXPECT_EQ(heap_.light_calls, 0);
}

TEST_F(GuardTest, CleansAtCriticalAndHoldsThePressureUntilAllIsWell) {
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

TEST_F(GuardTest, RefusesThresholdsThatAreNotInOrder) {
  for (const sense::MemoryThresholds bad : {sense::MemoryThresholds{90, 85}, {0, 90}, {85, 101}}) {
    for (const GuardRequest& request :
         {GuardRequest{.thresholds = bad}, GuardRequest{.cards = CardBounds{bad}}}) {
      const auto checked = guard_.check(request);
      ASSERT_FALSE(checked);
      EXPECT_EQ(checked.error().code, base::Code::bad_input);
    }
  }
}

TEST_F(GuardTest, AReadingThatFailsIsPassedOn) {
  Guard guard(
      cleaner_, [] { return CardsSeen{}; },
      []() -> base::Result<sense::MemoryInfo> {
        return base::error(base::Code::io, "no /proc here");
      });
  EXPECT_EQ(guard.check({}).error().message, "no /proc here");
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
