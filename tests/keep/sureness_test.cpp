// SPDX-License-Identifier: Apache-2.0
// How sure a verdict is of growth that was short, small or read with holes.
#include "keep/sureness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace ebb::keep {
namespace {

using fact::Confidence;
using fact::Verdict;
using Points = std::vector<trend::Point>;

constexpr double kMega = 1 << 20;

Points read_at(const std::vector<double>& moments, const std::function<double(double)>& mib) {
  Points points;
  for (const double t : moments)
    points.push_back({t, (mib(t) + 0.02 * std::sin(t * 12.9898)) * kMega});
  return points;
}

std::vector<double> every_second(double until) {
  std::vector<double> moments;
  for (double t = 0; t < until; ++t)
    moments.push_back(t);
  return moments;
}

/// A supervisor that gets no processor for minutes and then reads twice a second.
std::vector<double> between_bursts_of_load(double until) {
  std::vector<double> moments;
  for (double t = 0; t < until; t += 0.5 + std::fmod(t * 7.77, 1.0))
    if (t < 150 || (t > 380 && t < 430) || t > 560) moments.push_back(t);
  return moments;
}

struct Parent {
  Points anon, live, retained;

  MemorySeries series() const {
    return {.rss = anon, .anon = anon, .live = live, .retained = retained};
  }
};

/// The parent of forked workers: it allocates nothing, and what malloc keeps of it grows.
Parent parent_read_at(const std::vector<double>& moments, double kept, double per_second) {
  return {read_at(moments, [=](double t) { return 120 + per_second * t; }),
          read_at(moments, [](double) { return 80.0; }),
          read_at(moments, [=](double t) { return kept + per_second * t; })};
}

bool says(const ProcessDiagnosis& diagnosis, const std::string& part) {
  for (const std::string& finding : diagnosis.findings)
    if (finding.find(part) != std::string::npos) return true;
  return false;
}

TEST(Sureness, AMebibyteInAMinuteIsNoRetention) {
  // +68 MiB/h over 14 MiB.
  const Parent parent = parent_read_at(every_second(75), 14, 68.0 / 3600);
  ASSERT_TRUE(grows(MemoryTrends(parent.series()).retained));
  const ProcessDiagnosis found = diagnose(parent.series());
  EXPECT_EQ(found.verdict, Verdict::not_enough_data) << found.headline;
  EXPECT_EQ(found.confidence, Confidence::low);
  EXPECT_EQ(found.pace, 0) << "no number for what is not known";
  EXPECT_TRUE(says(found, "what the allocator keeps grew by +1.")) << to_json(found).text();
  EXPECT_TRUE(says(found, "so far, which may be a warm-up: too early to call it retention"));
}

TEST(Sureness, RetentionThatNoCleanupWasTriedOnIsNotSure) {
  const Parent parent = parent_read_at(every_second(720), 30, 68.0 / 3600);
  MemorySeries series = parent.series();
  ProcessDiagnosis found = diagnose(series);
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_EQ(found.confidence, Confidence::medium);
  EXPECT_TRUE(says(found, "no cleanup was tried: whether one returns it is not known"));
  EXPECT_NEAR(found.grown, 13.6 * kMega, kMega);
  series.cleanups = {.count = 1, .returned = 4096, .typical = 4096, .largest = 4096};
  found = diagnose(series);
  EXPECT_EQ(found.confidence, Confidence::medium);
  EXPECT_TRUE(says(found, "cleanups returned hardly any of it so far"));
  series.cleanups = {.count = 1, .returned = 12 << 20, .typical = 12 << 20, .largest = 12 << 20};
  found = diagnose(series);
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_EQ(found.confidence, Confidence::high);
}

TEST(Sureness, APaceFromReadingsWithHolesIsNotSure) {
  const std::vector<double> moments = between_bursts_of_load(720);
  Parent parent = parent_read_at(moments, 30, 68.0 / 3600);
  MemorySeries series = parent.series();
  series.cleanups = {.count = 1, .returned = 12 << 20, .typical = 12 << 20, .largest = 12 << 20};
  const ProcessDiagnosis kept = diagnose(series);
  EXPECT_EQ(kept.verdict, Verdict::retention) << kept.headline;
  EXPECT_EQ(kept.confidence, Confidence::medium);
  EXPECT_TRUE(says(kept, "nothing was read for 4 min of the 12 min that the pace is drawn from"))
      << to_json(kept).text();
  parent.live = parent.anon;
  const ProcessDiagnosis leak = diagnose(parent.series());
  EXPECT_EQ(leak.verdict, Verdict::leak) << leak.headline;
  EXPECT_EQ(leak.confidence, Confidence::medium);
}

TEST(Sureness, ASlowLeakIsOneAndItsPaceIsNotSure) {
  const auto leaking = [](double seconds) {
    const Points live = read_at(every_second(seconds), [](double t) { return 90 + t / 72; });
    const Points retained = read_at(every_second(seconds), [](double) { return 5.0; });
    return diagnose({.rss = live, .anon = live, .live = live, .retained = retained});
  };
  const ProcessDiagnosis early = leaking(360);
  EXPECT_EQ(early.verdict, Verdict::leak) << early.headline;
  EXPECT_EQ(early.confidence, Confidence::medium);
  EXPECT_TRUE(says(early, ": too little to be sure of it")) << to_json(early).text();
  EXPECT_EQ(leaking(720).confidence, Confidence::high);
}

TEST(Sureness, APaceThatBeganSecondsAgoIsNotSure) {
  std::vector<double> dense;
  for (double t = 0; t < 70; t += 0.2)
    dense.push_back(t);
  const auto leaking_from = [&](double begin) {
    const Points live = read_at(dense, [=](double t) { return 90 + 4 * std::max(t - begin, 0.0); });
    return diagnose({.rss = live, .anon = live, .live = live});
  };
  EXPECT_EQ(leaking_from(30).verdict, Verdict::leak);
  EXPECT_EQ(leaking_from(30).confidence, Confidence::high);
  const ProcessDiagnosis recent = leaking_from(46);
  EXPECT_EQ(recent.verdict, Verdict::leak) << recent.headline;
  EXPECT_EQ(recent.confidence, Confidence::medium) << to_json(recent).text();
}

TEST(Sureness, WhatIsTakenFromTheRestIsAGuess) {
  Parent parent = parent_read_at(every_second(720), 30, 68.0 / 3600);
  parent.retained.resize(5);
  const ProcessDiagnosis found = diagnose(parent.series());
  EXPECT_EQ(found.verdict, Verdict::retention) << found.headline;
  EXPECT_EQ(found.confidence, Confidence::low);
  EXPECT_TRUE(says(found, "what the allocator keeps was read too seldom"));
}

}  // namespace
}  // namespace ebb::keep
