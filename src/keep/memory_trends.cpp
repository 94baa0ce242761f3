// SPDX-License-Identifier: Apache-2.0
#include "keep/memory_trends.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/duration.h"

namespace ebb::keep {
namespace {

using trend::Assessment;
using Points = std::span<const trend::Point>;

using base::kHour;
constexpr double kWarmUpShare = 0.95;
// Cleanups that return less than this, or than this share of the memory, are no sign of retention.
constexpr double kLeastReturned = 16 << 20;
constexpr double kLeastReturnedShare = 0.1;
constexpr std::uint64_t kLeastCleanups = 3;
constexpr double kLargeShare = 0.5;  // of one cleanup, that is sign enough
constexpr std::size_t kLeastSeldom = 20;

Points held(const MemorySeries& series) {
  return series.anon.empty() ? series.rss : series.anon;
}

Assessment assess(const MemorySeries& series, Points points) {
  trend::AssessOptions options;
  options.round_ends = series.round_ends;
  return trend::assess(points, options);
}

Assessment assess_each(Points points) {
  trend::AssessOptions options;
  options.each = true;
  return trend::assess(points, options);
}

/// What only the process itself can tell is read seldom: few readings are taken as they are, and
/// else those that cleanups made.
Assessment assess_seldom(const MemorySeries& series, Points points, Points after) {
  const Assessment found = assess(series, points);
  if (found.slope) return found;
  const bool is_seldom =
      points.size() >= kLeastSeldom && points.size() < trend::AssessOptions{}.least_samples;
  return assess_each(is_seldom ? points : after);
}

/// Readings a second apart miss the floors of rounds that take a few: growth has to show in what
/// cleanups leave as well, where that is known.
Assessment assess_live(const MemorySeries& series) {
  const Assessment found = assess_seldom(series, series.live, series.live_after);
  if (!grows(found)) return found;
  const Assessment cleaned = assess_each(series.live_after);
  return cleaned.slope ? cleaned : found;
}

Assessment after_warm_up(const MemorySeries& series, const Assessment& whole, Points points) {
  if (is_steady(whole)) return whole;
  const std::vector<trend::Point> quarters = trend::floors(points, 4);
  if (quarters.size() < 4) return whole;
  const double rise = quarters[3].value - quarters[0].value;
  const double first_half = quarters[2].value - quarters[0].value;
  if (rise <= 0 || first_half < kWarmUpShare * rise) return whole;
  const Points rest = points.subspan(points.size() / 2);
  const Assessment found = assess(series, rest);
  // Of a short job half of the readings are few: then they are taken as they are.
  return found.slope || rest.size() < kLeastSeldom ? found : assess_each(rest);
}

base::Json last_of(Points points) {
  return points.empty() ? base::Json()
                        : base::Json(static_cast<std::uint64_t>(points.back().value));
}

void add_rate(base::Json& evidence, const std::string& name, const Assessment& part) {
  base::Json rate, interval;
  if (part.slope) rate = part.slope->per_second * kHour;
  if (part.slope && part.slope->bounded())
    interval = base::Json::array({part.slope->low * kHour, part.slope->high * kHour});
  evidence.set(name + "_slope_bytes_per_hour", std::move(rate));
  evidence.set(name + "_slope_interval_bytes_per_hour", std::move(interval));
}

}  // namespace

MemoryTrends::MemoryTrends(const MemorySeries& series)
    : rss(assess(series, series.rss)),
      anon(assess(series, held(series))),
      file(assess(series, series.file)),
      shmem(assess(series, series.shmem)),
      live(assess_live(series)),
      retained(assess_seldom(series, series.retained, series.retained_after)),
      children(assess(series, series.children)),
      floor(assess_each(series.after_cleanup)) {}

Assessment MemoryTrends::peaks(const MemorySeries& series) const {
  trend::AssessOptions options;
  options.highest = true;
  return trend::assess(series.peaks.empty() ? held(series) : series.peaks, options);
}

Assessment MemoryTrends::anon_after_warm_up(const MemorySeries& series) const {
  return after_warm_up(series, anon, held(series));
}

Assessment MemoryTrends::live_after_warm_up(const MemorySeries& series) const {
  return after_warm_up(series, live, series.live);
}

/// Of the memory with it.
static double share_of(std::uint64_t returned, const MemoryTrends& trends,
                       const MemorySeries& series) {
  const double last = series.rss.empty() ? 0 : series.rss.back().value;
  const double level = trends.rss.slope ? trends.rss.slope->end : last;
  return static_cast<double>(returned) / std::max(level + static_cast<double>(returned), 1.0);
}

bool MemoryTrends::one_cleanup_paid(const MemorySeries& series) const {
  return static_cast<double>(series.cleanups.largest) >= kLeastReturned &&
         share_of(series.cleanups.largest, *this, series) >= kLargeShare;
}

bool MemoryTrends::cleanups_paid(const MemorySeries& series) const {
  const CleanupSum& sum = series.cleanups;
  const auto typical = static_cast<double>(sum.typical);
  const double share = share_of(sum.typical, *this, series);
  return typical >= kLeastReturned &&
         ((sum.count >= kLeastCleanups && share >= kLeastReturnedShare) ||
          (sum.count > 0 && share >= kLargeShare));
}

bool MemoryTrends::is_kept_by_few_readings(const MemorySeries& series) const {
  if (series.live.empty() || series.retained.empty()) return false;
  const auto rise = [](std::span<const trend::Point> points) {
    return points.back().value - points.front().value;
  };
  const double growth = anon.growth();
  return rise(series.live) < growth / 4 && rise(series.retained) > growth / 2;
}

std::optional<trend::TimeUntil> MemoryTrends::time_until_limit(const MemorySeries& series) const {
  const Assessment& growing = !grows(anon) && grows(live) ? live : anon;
  if (!grows(growing) || !series.room) return std::nullopt;
  const double limit = growing.slope->end + static_cast<double>(*series.room);
  return trend::time_until(*growing.slope, limit);
}

base::Json evidence_of(const MemorySeries& series, const MemoryTrends& trends) {
  base::Json evidence;
  evidence.set("samples", std::uint64_t{trends.rss.samples})
      .set("observed_seconds", trends.rss.span_seconds)
      .set("settled_seconds", trends.rss.settled_seconds)
      .set("floors", std::uint64_t{trends.rss.floors})
      .set("period_seconds", trends.rss.period)
      .set("rss_bytes", last_of(series.rss));
  add_rate(evidence, "rss", trends.rss);
  add_rate(evidence, "anon", trends.anon);
  add_rate(evidence, "live", trends.live);
  add_rate(evidence, "retained", trends.retained);
  add_rate(evidence, "after_cleanup", trends.floor);
  evidence.set("live_bytes", last_of(series.live)).set("retained_bytes", last_of(series.retained));
  base::Json until;
  if (const auto time = trends.time_until_limit(series)) {
    until = base::Json::object(
        {{"likely", time->likely}, {"soonest", time->soonest}, {"latest", time->latest}});
  }
  return evidence.set("seconds_until_limit", std::move(until));
}

}  // namespace ebb::keep
