// SPDX-License-Identifier: Apache-2.0
#include "keep/diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "trend/assessment.h"

namespace ebb::keep {
namespace {

using fact::Verdict;
using Points = std::vector<trend::Point>;

constexpr double kMiBytes = 1 << 20;
constexpr int kSeconds = 240;

Points over_time(const std::function<double(double)>& mib, int seconds = kSeconds) {
  Points points;
  for (int i = 0; i < seconds; ++i) {
    // A little unrest, the same every time.
    const double unrest = std::sin(i * 12.9898) * 0.5;
    points.push_back({static_cast<double>(i), (mib(i) + unrest) * kMiBytes});
  }
  return points;
}

const Points kLevel = over_time([](double) { return 500.0; });
const Points kGrowing = over_time([](double t) { return 500 + 0.5 * t; });
constexpr double kGrowthPerHour = 0.5 * kMiBytes * 3600;

double number(const ProcessDiagnosis& diagnosis, const char* key) {
  const base::Json* found = diagnosis.evidence.find(key);
  return found == nullptr ? NAN : found->as_double().value_or(NAN);
}

TEST(Diagnosis, OfNothingIsNotEnoughData) {
  const ProcessDiagnosis found = diagnose({});
  EXPECT_EQ(found.verdict, Verdict::not_enough_data);
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  EXPECT_EQ(found.rss_slope, "unknown");
  EXPECT_TRUE(found.evidence.find("rss_slope_bytes_per_hour")->is_null());
}

TEST(Diagnosis, LevelMemoryIsHealthyAndSaysWhatCouldHaveBeenMissed) {
  const ProcessDiagnosis found = diagnose({.rss = kLevel, .anon = kLevel});
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_EQ(found.confidence, fact::Confidence::medium);
  EXPECT_NE(found.headline.find("/h would not have shown in 4 min"), std::string::npos)
      << found.headline;
  EXPECT_EQ(found.fix.kind, fact::FixKind::none);
}

TEST(Diagnosis, AShortJobThatHasStartedUpIsHealthy) {
  // As read in 16 seconds: loading first, then nothing; live bytes are read more seldom.
  const auto start_up = [](double until, double step) {
    Points points;
    for (double t = 0; t < 16; t += step)
      points.push_back({t, (t < until ? 4 + 20 * t / until : 32) * kMiBytes});
    return points;
  };
  const Points anon = start_up(1.6, 0.2);
  const Points live = start_up(1.6, 0.36);
  ASSERT_LT(live.size() / 2, trend::AssessOptions{}.least_samples);
  EXPECT_EQ(diagnose({.rss = anon, .anon = anon, .live = live}).verdict, Verdict::healthy);
  // One that goes on growing is not.
  Points growing = live;
  for (trend::Point& point : growing)
    point.value += point.seconds * kMiBytes;
  EXPECT_NE(diagnose({.rss = anon, .anon = anon, .live = growing}).verdict, Verdict::healthy);
}

TEST(Diagnosis, GrowthSeenFromOutsideIsALeakWithLowConfidence) {
  const ProcessDiagnosis found = diagnose({.rss = kGrowing, .anon = kGrowing, .room = 500 << 20});
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  EXPECT_EQ(found.fix.kind, fact::FixKind::probe);
  EXPECT_NEAR(number(found, "rss_slope_bytes_per_hour"), kGrowthPerHour, 0.05 * kGrowthPerHour);
  const auto* interval = found.evidence.find("rss_slope_interval_bytes_per_hour")->as_array();
  ASSERT_NE(interval, nullptr);
  EXPECT_LE((*interval)[0].as_double(), kGrowthPerHour);
  EXPECT_GE((*interval)[1].as_double(), kGrowthPerHour);
  const base::Json* until = found.evidence.find("seconds_until_limit");
  ASSERT_TRUE(until->is_object());
  EXPECT_NEAR(until->find("likely")->as_double().value(), 1000, 50);
}

TEST(Diagnosis, AFewReadingsOfLiveBytesAreNotCalledNone) {
  const Points seldom(kGrowing.begin(), kGrowing.begin() + 12);
  const ProcessDiagnosis found = diagnose({.rss = kGrowing, .anon = kGrowing, .live = seldom});
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings[0],
            "live bytes cannot be judged yet (12 readings): growth may be a leak or memory that "
            "the allocator keeps");
}

TEST(Diagnosis, AFewReadingsMaySayThatTheAllocatorKeepsWhatGrew) {
  const auto few = [](const Points& points) {
    Points some;
    for (std::size_t i = 0; i < points.size(); i += points.size() / 6)
      some.push_back(points[i]);
    return some;
  };
  ProcessDiagnosis found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = few(kLevel), .retained = few(kGrowing)});
  EXPECT_EQ(found.verdict, Verdict::retention);
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  found = diagnose(
      {.rss = kGrowing, .anon = kGrowing, .live = few(kGrowing), .retained = few(kGrowing)});
  EXPECT_EQ(found.verdict, Verdict::leak) << "it may be live as well";
  found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = few(kLevel), .retained = few(kLevel)});
  EXPECT_EQ(found.verdict, Verdict::leak) << "nobody has said who holds it";
}

TEST(Diagnosis, LiveBytesMakeItSure) {
  const ProcessDiagnosis found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = kGrowing, .retained = kLevel});
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_TRUE(found.also.empty());
  EXPECT_NEAR(number(found, "live_slope_bytes_per_hour"), kGrowthPerHour, 0.05 * kGrowthPerHour);
}

TEST(Diagnosis, AJobThatLeaksAndRetainsIsALeakWithRetentionBesideIt) {
  const Points both = over_time([](double t) { return 500 + t; });
  const ProcessDiagnosis found =
      diagnose({.rss = both, .anon = both, .live = kGrowing, .retained = kGrowing});
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.also, std::vector<Verdict>{Verdict::retention});
}

TEST(Diagnosis, RetainedThatGrowsOverLevelLiveBytesIsRetention) {
  const ProcessDiagnosis found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = kLevel, .retained = kGrowing});
  EXPECT_EQ(found.verdict, Verdict::retention);
  EXPECT_EQ(found.fix.kind, fact::FixKind::cleanup);
}

TEST(Diagnosis, WhatCleanupsCannotReturnIsFragmentation) {
  const ProcessDiagnosis found = diagnose({.rss = kGrowing,
                                           .anon = kGrowing,
                                           .live = kLevel,
                                           .retained = kGrowing,
                                           .after_cleanup = kGrowing});
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
}

TEST(Diagnosis, RetainedMemoryOfWhichCleanupsReturnNextToNothingIsFragmentation) {
  constexpr double kKept = 252.0 * (1 << 20);
  const Points after{{100, kKept / 2}, {200, kKept}};
  MemorySeries series{.rss = kGrowing,
                      .anon = kGrowing,
                      .live = kLevel,
                      .retained = kGrowing,
                      .retained_after = after,
                      .cleanups = {.count = 2, .returned = 4096, .typical = 2048, .largest = 4096}};
  const ProcessDiagnosis found = diagnose(series);
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_NE(found.headline.find("2 cleanups returned 4.0 KiB in all"), std::string::npos)
      << found.headline;
  EXPECT_EQ(found.fix.kind, fact::FixKind::settings);
  series.cleanups.largest = 40 << 20;
  EXPECT_EQ(diagnose(series).verdict, Verdict::retention) << "they return something";
  series.cleanups = {.count = 1, .returned = 4096, .typical = 4096, .largest = 4096};
  EXPECT_EQ(diagnose(series).verdict, Verdict::retention) << "one may have come too early";
}

TEST(Diagnosis, ALeakIsNotTheVerdictWhereTheAllocatorKeepsFarMore) {
  const Points kept = over_time([](double t) { return 20 + 10 * t; });
  const auto with_live = [&](double per_second) {
    const Points live = over_time([&](double t) { return 20 + per_second * t; });
    return diagnose({.rss = kept, .anon = kept, .live = live, .retained = kept});
  };
  const ProcessDiagnosis small = with_live(0.2);
  EXPECT_EQ(small.verdict, Verdict::retention);
  EXPECT_EQ(small.also, std::vector{Verdict::leak});
  const ProcessDiagnosis large = with_live(2);
  EXPECT_EQ(large.verdict, Verdict::leak);
  EXPECT_EQ(large.also, std::vector{Verdict::retention});
}

TEST(Diagnosis, GrowthInNeitherLiveNorRetainedIsForeign) {
  const ProcessDiagnosis found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = kLevel, .retained = kLevel});
  EXPECT_EQ(found.verdict, Verdict::foreign);
}

TEST(Diagnosis, GrowthThatExceedsWhatIsRetainedIsForeignHoweverSeldomThatWasRead) {
  const auto with_retained = [](double mib) {
    Points few = over_time([&](double) { return mib; });
    few.resize(5);
    return diagnose({.rss = kGrowing,
                     .anon = kGrowing,
                     .live = over_time([](double) { return 80.0; }),
                     .retained = few});
  };
  EXPECT_EQ(with_retained(20).verdict, Verdict::foreign);
  EXPECT_EQ(with_retained(200).verdict, Verdict::retention) << "it may be all of the growth";
}

/// Right after the cleanups that end each of `count` rounds.
Points after_cleanups(int count, const std::function<double(int)>& mib) {
  Points points;
  for (int i = 0; i < count; ++i)
    points.push_back({20.0 * (i + 1), mib(i) * kMiBytes});
  return points;
}

/// Rounds of 20 s that rise from `floor(t)` by 400 MiB and are cleaned up.
Points cleaned_rounds(const std::function<double(double)>& floor) {
  return over_time([&](double t) { return floor(t) + 20 * std::fmod(t, 20); });
}

CleanupSum cleanups_of(double mib, std::uint64_t count = 12) {
  const auto each = static_cast<std::uint64_t>(mib * kMiBytes);
  return {.count = count,
          .returned = count * each,
          .typical = each,
          .cost_seconds = 0.03 * static_cast<double>(count),
          .largest = each};
}

TEST(Diagnosis, PythonsSmallObjectsAreForeignAndNotRetention) {
  // pymalloc maps its arenas by itself: malloc counts neither as live nor as retained.
  const Points floor = after_cleanups(12, [](int i) { return 500.0 + 10 * i; });
  const ProcessDiagnosis found = diagnose({.rss = kGrowing,
                                           .anon = kGrowing,
                                           .live = over_time([](double) { return 80.0; }),
                                           .retained = over_time([](double) { return 20.0; }),
                                           .after_cleanup = floor,
                                           .cleanups = cleanups_of(0.5)});
  EXPECT_EQ(found.verdict, Verdict::foreign) << found.headline;
  EXPECT_TRUE(found.also.empty());
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_NEAR(found.pace, 0.5 * kMiBytes, 0.05 * kMiBytes);
}

TEST(Diagnosis, WhatCleanupsReturnEveryRoundIsRetention) {
  const Points rounds = cleaned_rounds([](double) { return 200.0; });
  const Points low = over_time([](double) { return 150.0; });
  const ProcessDiagnosis found =
      diagnose({.rss = rounds,
                .anon = rounds,
                .live = low,
                .retained = cleaned_rounds([](double) { return 20.0; }),
                .after_cleanup = after_cleanups(12, [](int) { return 200.0; }),
                .cleanups = cleanups_of(380)});
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_NE(found.headline.find("12 cleanups returned 4.5 GiB"), std::string::npos)
      << found.headline;
}

TEST(Diagnosis, GrowthThatCleanupsReturnIsNotForeign) {
  const Points retained = over_time([](double t) { return std::fmod(t, 7) * 20; });
  const Points floor = after_cleanups(12, [](int i) { return 450 + 20 * std::sin(i); });
  MemorySeries series{.rss = kGrowing,
                      .anon = kGrowing,
                      .live = kLevel,
                      .retained = retained,
                      .after_cleanup = floor};
  EXPECT_EQ(diagnose(series).verdict, Verdict::foreign) << "as long as nothing is returned";
  series.cleanups = cleanups_of(100);
  const ProcessDiagnosis found = diagnose(series);
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_TRUE(found.also.empty());
}

TEST(Diagnosis, GrowthThatMayBeRetainedIsNotForeign) {
  // So restless that its own growth is not certain.
  const Points retained =
      over_time([](double t) { return 300 + 0.4 * t + 100 * std::sin(t * 0.1); });
  const ProcessDiagnosis found =
      diagnose({.rss = kGrowing, .anon = kGrowing, .live = kLevel, .retained = retained});
  EXPECT_NE(found.verdict, Verdict::foreign) << found.headline;
  EXPECT_TRUE(found.also.empty());
}

TEST(Diagnosis, CleanupsThatReturnLittleAreNoRetention) {
  const ProcessDiagnosis found =
      diagnose({.rss = kLevel,
                .anon = kLevel,
                .live = kLevel,
                .retained = over_time([](double) { return 10.0; }),
                .after_cleanup = after_cleanups(12, [](int) { return 495.0; }),
                .cleanups = cleanups_of(8)});
  EXPECT_EQ(found.verdict, Verdict::healthy) << found.headline;
}

TEST(Diagnosis, ALeakUnderCleanupsIsALeakWithTheRetentionBesideIt) {
  const Points rounds = cleaned_rounds([](double t) { return 200 + 0.5 * t; });
  const Points live = over_time([](double t) { return 150 + 0.5 * t; });
  const ProcessDiagnosis found =
      diagnose({.rss = rounds,
                .anon = rounds,
                .live = live,
                .retained = cleaned_rounds([](double) { return 20.0; }),
                .after_cleanup = after_cleanups(12, [](int i) { return 210.0 + 10 * i; }),
                .cleanups = cleanups_of(380)});
  EXPECT_EQ(found.verdict, Verdict::leak) << found.headline;
  EXPECT_EQ(found.also, std::vector<Verdict>{Verdict::retention});
  EXPECT_NEAR(number(found, "live_slope_bytes_per_hour"), kGrowthPerHour, 0.1 * kGrowthPerHour);
}

TEST(Diagnosis, WithoutLiveBytesWhatCleanupsLeaveTellsALeakFromRetention) {
  const Points leaking = cleaned_rounds([](double t) { return 200 + 0.5 * t; });
  const ProcessDiagnosis leak =
      diagnose({.rss = leaking, .anon = leaking, .after_cleanup = after_cleanups(12, [](int i) {
                                                   return 210.0 + 10 * i;
                                                 })});
  EXPECT_EQ(leak.verdict, Verdict::leak) << leak.headline;
  EXPECT_EQ(leak.confidence, fact::Confidence::low);
  EXPECT_TRUE(leak.also.empty());
  const Points level = cleaned_rounds([](double) { return 200.0; });
  const ProcessDiagnosis retention =
      diagnose({.rss = level,
                .anon = level,
                .after_cleanup = after_cleanups(12, [](int) { return 200.0; }),
                .cleanups = cleanups_of(380)});
  EXPECT_EQ(retention.verdict, Verdict::retention) << retention.headline;
  EXPECT_EQ(retention.confidence, fact::Confidence::low);
  const ProcessDiagnosis healthy =
      diagnose({.rss = kLevel,
                .anon = kLevel,
                .after_cleanup = after_cleanups(12, [](int) { return 500.0; }),
                .cleanups = cleanups_of(1)});
  EXPECT_EQ(healthy.verdict, Verdict::healthy) << healthy.headline;
}

TEST(Diagnosis, OneCleanupThatReturnsMostOfItIsSignEnough) {
  const Points low = over_time([](double t) { return t < 20 ? 500.0 : 60.0; });
  const auto after = [&](double mib) {
    return diagnose({.rss = low,
                     .anon = low,
                     .live = over_time([](double) { return 50.0; }),
                     .retained = over_time([](double t) { return t < 20 ? 440.0 : 5.0; }),
                     .cleanups = cleanups_of(mib, 1)});
  };
  EXPECT_EQ(after(440).verdict, Verdict::retention);
  EXPECT_EQ(after(440).headline, "the allocator keeps what is freed: a cleanup returned 440.0 MiB");
  EXPECT_EQ(after(20).verdict, Verdict::healthy);
}

TEST(Diagnosis, GrowthOfLiveBytesHasToShowInWhatCleanupsLeave) {
  // Readings a second apart may find less and less of the floors of short rounds.
  const Points live = over_time([](double t) { return 90 + 0.3 * t; });
  const auto verdict_of = [&](const Points& after) {
    return diagnose({.rss = kLevel, .anon = kLevel, .live = live, .live_after = after}).verdict;
  };
  EXPECT_EQ(verdict_of({}), Verdict::leak);
  EXPECT_NE(verdict_of(after_cleanups(12, [](int) { return 90.0; })), Verdict::leak);
  EXPECT_EQ(verdict_of(after_cleanups(12, [](int i) { return 90.0 + 6 * i; })), Verdict::leak);
}

TEST(Diagnosis, ForeignGrowthHasToShowBesideMalloc) {
  const Points live = over_time([](double) { return 200.0; });
  const Points retained = over_time([](double) { return 10.0; });
  const auto verdict_of = [&](const Points& beside) {
    return diagnose({.rss = kGrowing,
                     .anon = kGrowing,
                     .live = live,
                     .retained = retained,
                     .beside = beside})
        .verdict;
  };
  EXPECT_EQ(verdict_of({}), Verdict::foreign);
  EXPECT_EQ(verdict_of(over_time([](double t) { return 290 + 0.5 * t; })), Verdict::foreign);
  // It jumps up and down with figures that were read at different times, and its floor is level.
  EXPECT_NE(verdict_of(over_time([](double t) { return std::fmod(t, 3) < 1 ? 35.0 : 35 + t / 2; })),
            Verdict::foreign);
}

TEST(Diagnosis, GrowthThatMayBeAWarmUpIsNoLeakYet) {
  // Of a server of NVFlare: 0.3 MiB in each round, for forty rounds, and nothing from then on.
  const auto verdict_after = [](int seconds) {
    const Points live =
        over_time([](double t) { return 146 + 0.08 * std::min(t, 120.0); }, seconds);
    const Points anon = over_time([](double) { return 300.0; }, seconds);
    return diagnose({.rss = anon, .anon = anon, .live = live});
  };
  const ProcessDiagnosis early = verdict_after(50);
  EXPECT_NE(early.verdict, Verdict::leak) << early.headline;
  EXPECT_NE(early.verdict, Verdict::healthy) << early.headline;
  ASSERT_FALSE(early.findings.empty());
  EXPECT_NE(early.findings[0].find("too early to call it a leak"), std::string::npos)
      << early.findings[0];
  EXPECT_EQ(verdict_after(600).verdict, Verdict::healthy);
  const Points slow = over_time([](double t) { return 146 + 0.015 * t; }, 400);
  EXPECT_EQ(diagnose({.rss = kLevel, .anon = kLevel, .live = slow}).verdict, Verdict::leak)
      << "for as long as that nothing warms up";
}

TEST(Diagnosis, SmallGrowthSeenFromOutsideIsNoLeakYet) {
  const Points slow = over_time([](double t) { return 146 + 0.08 * t; }, 50);
  const ProcessDiagnosis early = diagnose({.rss = slow, .anon = slow});
  EXPECT_EQ(early.verdict, Verdict::not_enough_data) << early.headline;
  EXPECT_NE(early.headline.find("too early to call"), std::string::npos) << early.headline;
  for (const std::string& finding : early.findings)
    EXPECT_EQ(finding.find("in use"), std::string::npos) << "which is not known: " << finding;
}

TEST(Diagnosis, SecondsOfGrowthSeenFromOutsideAreNoLeakYet) {
  const auto seen_for = [](double seconds) {
    Points points;
    for (double t = 0; t < seconds; t += 0.02)
      points.push_back({t, (64 + 16 * t) * kMiBytes});
    return diagnose({.rss = points, .anon = points});
  };
  const ProcessDiagnosis brief = seen_for(3);
  EXPECT_EQ(brief.verdict, Verdict::not_enough_data) << brief.headline;
  ASSERT_FALSE(brief.findings.empty());
  EXPECT_NE(brief.findings.front().find("may be a part of a round"), std::string::npos)
      << brief.findings.front();
  EXPECT_EQ(seen_for(11).verdict, Verdict::leak);
}

TEST(Diagnosis, LiveBytesReadOnlyByCleanupsAreEnough) {
  const Points rounds = cleaned_rounds([](double t) { return 200 + 0.5 * t; });
  const ProcessDiagnosis found =
      diagnose({.rss = rounds,
                .anon = rounds,
                .after_cleanup = after_cleanups(12, [](int i) { return 210.0 + 10 * i; }),
                .live_after = after_cleanups(12, [](int i) { return 160.0 + 10 * i; })});
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
  EXPECT_NEAR(number(found, "live_slope_bytes_per_hour"), kGrowthPerHour, 0.05 * kGrowthPerHour);
}

TEST(Diagnosis, WhatIsKeptAllTheTimeIsRetentionEvenWhereNothingGrows) {
  const auto with_retained = [](double mib) {
    return diagnose({.rss = kLevel,
                     .anon = kLevel,
                     .live = over_time([=](double) { return 490 - mib; }),
                     .retained = over_time([=](double) { return mib; })});
  };
  const ProcessDiagnosis most = with_retained(400);
  EXPECT_EQ(most.verdict, Verdict::retention);
  EXPECT_NE(most.headline.find("80 % of rss"), std::string::npos) << most.headline;
  EXPECT_EQ(with_retained(100).verdict, Verdict::healthy) << "some is in the nature of a heap";
}

TEST(Diagnosis, ARatchetThatHasComeToRestIsNoLeak) {
  const Points ratchet = over_time([](double t) { return 300 + std::min(t, 60.0); });
  const ProcessDiagnosis found =
      diagnose({.rss = ratchet, .anon = ratchet, .live = over_time([](double) { return 250.0; })});
  EXPECT_EQ(found.verdict, Verdict::healthy) << found.headline;
  const ProcessDiagnosis warm = diagnose({.rss = ratchet, .anon = ratchet, .live = ratchet});
  EXPECT_EQ(warm.verdict, Verdict::healthy) << warm.headline;
}

TEST(Diagnosis, LiveBytesThatAreReadSeldomDoNotHideWhatIsKnown) {
  const Points seldom{{0, 100 * kMiBytes}, {60, 100 * kMiBytes}, {120, 100 * kMiBytes}};
  EXPECT_EQ(diagnose({.rss = kLevel, .anon = kLevel, .live = seldom}).verdict, Verdict::healthy);
}

TEST(Diagnosis, FloorsThatRiseUnderLevelPeaksAreRetention) {
  const Points rounds = over_time([](double t) {
    const bool works = static_cast<int>(t) % 8 >= 4;
    return works ? 800.0 : 500 + t;
  });
  const ProcessDiagnosis found = diagnose({.rss = rounds, .anon = rounds});
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_EQ(found.confidence, fact::Confidence::low);
}

TEST(Diagnosis, RoundsThatComeBackAreHealthy) {
  const Points rounds = over_time([](double t) { return 500 + 40 * std::fmod(t, 8); });
  EXPECT_EQ(diagnose({.rss = rounds, .anon = rounds}).verdict, Verdict::healthy);
}

TEST(Diagnosis, MappedFilesAndSharedMemoryAreTheirOwnVerdict) {
  const ProcessDiagnosis files = diagnose({.rss = kGrowing, .anon = kLevel, .file = kGrowing});
  EXPECT_EQ(files.verdict, Verdict::file_cache);
  EXPECT_EQ(files.confidence, fact::Confidence::medium);
  EXPECT_EQ(files.fix.kind, fact::FixKind::none);
  const ProcessDiagnosis shared = diagnose({.rss = kGrowing, .anon = kLevel, .shmem = kGrowing});
  EXPECT_EQ(shared.verdict, Verdict::file_cache);
  EXPECT_EQ(shared.fix.kind, fact::FixKind::code) << "shared memory does not go away by itself";
  const ProcessDiagnosis both = diagnose({.rss = kGrowing, .anon = kGrowing, .file = kGrowing});
  EXPECT_EQ(both.verdict, Verdict::leak);
  EXPECT_EQ(both.also, std::vector<Verdict>{Verdict::file_cache});
}

TEST(Diagnosis, ABufferThatIsTouchedForTheFirstTimeIsNoTrendYet) {
  // Of a server process of PostgreSQL, whose 128 MiB of buffers are shared and were there before.
  const Points level = over_time([](double) { return 20.0; });
  const Points touched = over_time([](double t) { return 127 + 7 * t / kSeconds; });
  const Points rss = over_time([](double t) { return 159 + 7 * t / kSeconds; });
  const ProcessDiagnosis found =
      diagnose({.rss = rss, .anon = level, .shmem = touched, .live = level});
  EXPECT_EQ(found.verdict, Verdict::not_enough_data) << found.headline;
  EXPECT_NE(to_json(found).text().find("shared memory grew by +6."), std::string::npos)
      << to_json(found).text();
}

TEST(Diagnosis, AShortObservationIsNeverSure) {
  const Points brief = over_time([](double) { return 500.0; }, 50);
  EXPECT_EQ(diagnose({.rss = brief, .anon = brief}).confidence, fact::Confidence::low);
  EXPECT_EQ(diagnose({.rss = brief, .anon = brief, .live = brief}).confidence,
            fact::Confidence::medium);
}

TEST(Diagnosis, ChildrenThatGrowAreAFinding) {
  const ProcessDiagnosis found = diagnose({.rss = kLevel, .anon = kLevel, .children = kGrowing});
  EXPECT_EQ(found.verdict, Verdict::healthy) << "it speaks of the process itself";
  ASSERT_FALSE(found.findings.empty());
  EXPECT_NE(found.findings[0].find("processes it started"), std::string::npos);
}

TEST(Diagnosis, HasDoctorsShape) {
  const base::Json json = to_json(diagnose({.rss = kLevel, .anon = kLevel}));
  for (const char* key :
       {"verdict", "also", "confidence", "headline", "findings", "evidence", "fix"})
    EXPECT_NE(json.find(key), nullptr) << key;
  EXPECT_EQ(*json.find("verdict")->as_string(), "healthy");
  for (const char* key : {"live_slope_bytes_per_hour", "live_bytes", "retained_bytes"})
    EXPECT_TRUE(json.find("evidence")->find(key)->is_null()) << key;
}

}  // namespace
}  // namespace ebb::keep
