// SPDX-License-Identifier: Apache-2.0
#include "trend/assessment.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trend/changes.h"

namespace ebb::trend {
namespace {

double worth_a_word(const Assessment& assessment, const Effect& effect) {
  return std::max(effect.least_change, effect.least_share * std::abs(assessment.slope->start));
}

/// The search for change points takes the cube of this: more rounds are taken several at a time.
constexpr std::size_t kMostFloors = 64;

std::vector<double> grouped(std::span<const double> round_ends) {
  const std::size_t stride = (round_ends.size() + kMostFloors - 1) / kMostFloors;
  std::vector<double> ends;
  for (std::size_t i = stride; i <= round_ends.size(); i += stride)
    ends.push_back(round_ends[i - 1]);
  return ends;
}

std::vector<Point> extremes(std::span<const Point> points, const AssessOptions& options,
                            const std::optional<double>& period) {
  if (options.each && points.size() <= kMostFloors) return {points.begin(), points.end()};
  if (options.each) return floors(points, kMostFloors);
  if (!options.round_ends.empty()) return floors_of_rounds(points, grouped(options.round_ends));
  std::size_t windows = std::min(options.windows, points.size() / 4);
  if (period && *period > 0) {
    const double span = points.back().seconds - points.front().seconds;
    windows = std::min(windows, static_cast<std::size_t>(span / *period));
  }
  return options.highest ? ceilings(points, windows) : floors(points, windows);
}

double longest_hole_of(std::span<const Point> points, double from) {
  double longest = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i - 1].seconds >= from)
      longest = std::max(longest, points[i].seconds - points[i - 1].seconds);
  }
  return longest;
}

}  // namespace

Assessment assess(std::span<const Point> points, const AssessOptions& asked) {
  AssessOptions options = asked;
  if (options.round_ends.size() < options.least_floors) options.round_ends = {};
  if (options.each) options.least_samples = options.least_floors;
  Assessment result;
  result.samples = points.size();
  if (points.size() < 2) return result;
  result.span_seconds = points.back().seconds - points.front().seconds;
  if (points.size() < options.least_samples) return result;
  if (!options.round_ends.empty()) {
    result.period = (options.round_ends.back() - points.front().seconds) /
                    static_cast<double>(options.round_ends.size());
  } else if (!options.each) {
    // Start-up belongs to no round and would hide them.
    result.period = period_of(points.subspan(points.size() / 3));
  }
  const std::vector<Point> minima = extremes(points, options, result.period);
  const std::vector<std::size_t> changes = change_points(minima);
  const std::size_t first = changes.empty() ? 0 : changes.back();
  const std::span<const Point> settled = std::span(minima).subspan(first);
  result.floors = settled.size();
  const Point& begin = first == 0 ? points.front() : settled.front();
  result.settled_seconds = points.back().seconds - begin.seconds;
  result.longest_hole = longest_hole_of(points, begin.seconds);
  if (minima.size() >= options.least_floors) result.whole = theil_sen(minima);
  if (settled.size() < options.least_floors) return result;
  result.slope = theil_sen(settled);
  result.recent = theil_sen(settled.subspan(settled.size() / 2));
  return result;
}

bool grows(const Assessment& assessment, const Effect& effect) {
  if (!assessment.slope || !assessment.recent) return false;
  const Slope& slope = *assessment.slope;
  return slope.low > 0 && assessment.growth() >= worth_a_word(assessment, effect) &&
         assessment.recent->per_second >= slope.per_second / 2;
}

bool is_steady(const Assessment& assessment, const Effect& effect) {
  if (!assessment.slope) return false;
  const Slope& slope = *assessment.slope;
  if (slope.per_second == 0 && slope.noise == 0) return true;
  const double bound = worth_a_word(assessment, effect);
  return slope.high * assessment.settled_seconds <= bound &&
         (slope.low <= 0 || assessment.growth() <= bound / 8);
}

}  // namespace ebb::trend
