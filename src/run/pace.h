// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace ebb::run {

// How often samples are taken.

/// If taking a sample costs n times this, samples are taken n times less often.
inline constexpr double kLookSeconds = 0.0025;

/// A job that is over soon has been sampled so often by then, evenly spaced: twice what a verdict
/// needs.
inline constexpr double kEarlySamples = 80;
inline constexpr double kShortestInterval = 0.1;
/// Early samples take no larger a share of the time than those of every second.
inline constexpr double kEarlyShare = kLookSeconds / 1.0;

/// Near the limit a second is a long time.
inline constexpr double kIntervalNearLimit = 0.2;
/// And where memory is critical, as long as it is news: what was in it when it ended shall be
/// known.
inline constexpr double kIntervalAtLimit = 0.05;
inline constexpr double kNewsSeconds = 60;
/// No more of one processor's time than this goes into samples near the limit.
inline constexpr double kShareNearLimit = 0.02;

/// Seconds until the next sample of a job near its limit, where one costs `cost` seconds of
/// processor time. `is_news`: memory became critical, or met the limit, a short time ago.
inline double interval_near_limit(double cost, bool is_news) {
  return std::max(is_news ? kIntervalAtLimit : kIntervalNearLimit, cost / kShareNearLimit);
}

/// Seconds until the next sample of a job that has run for `seconds`, where one costs `cost`
/// seconds of processor time: dense at first, ever wider as the job grows old.
inline double early_interval(double seconds, double cost) {
  return std::max({kShortestInterval, seconds / kEarlySamples, cost / kEarlyShare});
}

}  // namespace ebb::run
