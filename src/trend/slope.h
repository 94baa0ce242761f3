// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trend/series.h"

namespace ebb::trend {

/// A straight line through a series, with the interval that holds its slope in 95 of 100 cases.
struct Slope {
  double per_second = 0;
  double low = 0;    ///< minus infinity where so few points bound nothing
  double high = 0;   ///< plus infinity likewise
  double start = 0;  ///< the line's value at the first point
  double end = 0;    ///< and at the last
  double noise = 0;  ///< median distance of the points from the line
  std::size_t points = 0;

  bool bounded() const;
};

/// Theil and Sen: the median of the slopes between all pairs, so that nearly a third of the points
/// may be wrong. The interval is Sen's, widened where neighbours resemble each other (Hamed and
/// Rao, for an autoregressive process of order one), because memory today is memory yesterday.
/// Exact to kExactPoints; of longer series it takes that many points, one from each of as many
/// equal parts, the same ones every time. Nothing for fewer than 3 points, or where all are of one
/// time.
std::optional<Slope> theil_sen(std::span<const Point> points);

inline constexpr std::size_t kExactPoints = 1000;

/// Seconds until a line reaches `limit`, from its last point on.
struct TimeUntil {
  double likely = 0;
  double soonest = 0;
  std::optional<double> latest;  ///< nothing: perhaps never
};

/// Nothing where the slope is not positive, its interval does not bound it, or the limit is behind.
std::optional<TimeUntil> time_until(const Slope& slope, double limit);

}  // namespace ebb::trend
