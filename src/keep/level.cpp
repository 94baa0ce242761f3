// SPDX-License-Identifier: Apache-2.0
#include "keep/level.h"

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"

namespace ebb::keep {
namespace {

using base::format_text;
using base::kHour;
using trend::Assessment;

}  // namespace

std::string bytes_of(double bytes) {
  return base::signed_bytes_text(static_cast<std::int64_t>(std::clamp(bytes, -9e18, 9e18)));
}

std::string rate_text(const trend::Slope& slope) {
  const std::string rate = bytes_of(slope.per_second * kHour) + "/h";
  if (!slope.bounded()) return rate + " (no interval yet)";
  return rate + " (95 %: " + bytes_of(slope.low * kHour) + " to " + bytes_of(slope.high * kHour) +
         ")";
}

std::optional<std::string> why_level(const MemorySeries& series, const MemoryTrends& trends) {
  const auto quiet = [](const Assessment& part, std::span<const trend::Point> points) {
    return points.empty() || is_steady(part);
  };
  // What cleanups leave is the better floor: the work in between does not shake it.
  const Assessment anon = trends.anon_after_warm_up(series);
  const Assessment& floor = is_steady(anon) || !trends.floor.slope ? anon : trends.floor;
  const bool live_is_quiet = !trends.live.slope || is_steady(trends.live_after_warm_up(series));
  const bool is_level = is_steady(floor) && quiet(trends.file, series.file) &&
                        quiet(trends.shmem, series.shmem) && live_is_quiet;
  if (!is_level) return std::nullopt;
  // glibc's heap grows by 128 KiB at a time: less than one such step cannot show.
  const double unseen = std::max(floor.slope->high, 128.0 * 1024 / floor.settled_seconds);
  return "memory does not grow; growth of less than " +
         base::bytes_text(static_cast<std::uint64_t>(unseen * kHour)) +
         "/h would not have shown in " + base::duration_text(floor.settled_seconds);
}

std::string why_undecided(const MemoryTrends& trends) {
  const trend::AssessOptions options;
  if (trends.anon.samples < options.least_samples) {
    return format_text("%zu samples so far, %zu are needed", trends.anon.samples,
                       options.least_samples);
  }
  if (!trends.anon.slope) {
    if (trends.anon.period) {
      return format_text("too few rounds of %s since memory last changed its level",
                         base::duration_text(*trends.anon.period).c_str());
    }
    return "memory changed its level a short while ago and has not settled";
  }
  if (is_steady(trends.anon))
    return "anonymous memory is level, mapped files or shared memory are not";
  if (trends.anon.slope->low > 0) {
    return "it grows by " + rate_text(*trends.anon.slope) + ", only " +
           bytes_of(trends.anon.growth()) + " so far, or ever more slowly: too early to call";
  }
  return "the slope is " + rate_text(*trends.anon.slope) +
         ": growth can be neither seen nor excluded";
}

}  // namespace ebb::keep
