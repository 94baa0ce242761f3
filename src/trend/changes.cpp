// SPDX-License-Identifier: Apache-2.0
#include "trend/changes.h"

#include <algorithm>
#include <cmath>

#include "trend/slope.h"

namespace ebb::trend {
namespace {

// On average, of the level and of what the line itself rises.
constexpr double kLeastDeviation = 1e-3;
constexpr double kLeastDeviationOfRise = 0.03;

/// The sum of distances from the robust line.
double deviation(std::span<const Point> points) {
  const auto line = theil_sen(points);
  if (!line) return 0;
  double sum = 0;
  for (const Point& point : points) {
    sum += std::abs(point.value - line->start -
                    line->per_second * (point.seconds - points.front().seconds));
  }
  return sum;
}

void split(std::span<const Point> points, std::size_t offset, const ChangeOptions& options,
           std::vector<std::size_t>& changes) {
  const std::size_t least = std::max<std::size_t>(options.least_points, 3);
  if (points.size() < 2 * least) return;
  const double whole = deviation(points);
  double magnitude = 0;
  for (const Point& point : points)
    magnitude = std::max(magnitude, std::abs(point.value));
  // A line that holds to a thousandth, or that goes far and hardly strays, changes nowhere: regular
  // unrest and a second of delay would look like changes.
  const auto line = theil_sen(points);
  const double rise = line ? std::abs(line->end - line->start) : 0;
  const double unrest = std::max(kLeastDeviation * magnitude, kLeastDeviationOfRise * rise);
  if (whole <= unrest * static_cast<double>(points.size())) return;
  double best = whole;
  std::size_t place = 0;
  for (std::size_t i = least; i + least <= points.size(); ++i) {
    const double left = deviation(points.first(i)) + deviation(points.subspan(i));
    if (left < best) {
      best = left;
      place = i;
    }
  }
  if (place == 0 || best > options.most_left * whole) return;
  split(points.first(place), offset, options, changes);
  changes.push_back(offset + place);
  split(points.subspan(place), offset + place, options, changes);
}

/// What the line of least squares leaves: rounds need no robust one, and it costs next to nothing.
std::vector<double> without_line(std::span<const Point> points) {
  const auto count = static_cast<double>(points.size());
  double time = 0;
  double value = 0;
  for (const Point& point : points) {
    time += point.seconds / count;
    value += point.value / count;
  }
  double product = 0;
  double square = 0;
  for (const Point& point : points) {
    product += (point.seconds - time) * (point.value - value);
    square += (point.seconds - time) * (point.seconds - time);
  }
  const double slope = square > 0 ? product / square : 0;
  std::vector<double> rest;
  for (const Point& point : points)
    rest.push_back(point.value - value - slope * (point.seconds - time));
  return rest;
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const Point> points,
                                       const ChangeOptions& options) {
  std::vector<std::size_t> changes;
  split(points, 0, options, changes);
  return changes;
}

std::optional<double> period_of(std::span<const Point> points) {
  constexpr double kLeastCorrelation = 0.4;
  if (points.size() < 16) return std::nullopt;
  const std::vector<double> rest = without_line(points);
  double power = 0;
  for (const double value : rest)
    power += value * value;
  if (power <= 0) return std::nullopt;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < rest.size(); ++i)
      sum += rest[i] * rest[i - lag];
    return sum / power * static_cast<double>(rest.size()) / static_cast<double>(rest.size() - lag);
  };
  // The hill of lag zero ends where the correlation does; the highest point after it is the period.
  std::size_t lag = 1;
  const std::size_t longest = points.size() / 4;
  while (lag <= longest && correlation(lag) > 0)
    ++lag;
  std::size_t period = 0;
  double highest = kLeastCorrelation;
  double before = 0;
  for (; lag <= longest; ++lag) {
    const double here = correlation(lag);
    // Multiples of the period are as high as the period itself, give or take noise.
    if (here > highest * (period == 0 ? 1 : 1.1)) {
      highest = here;
      period = lag;
    } else if (period != 0 && here < highest / 2 && before < highest / 2) {
      break;
    }
    before = here;
  }
  if (period == 0) return std::nullopt;
  const double step =
      (points.back().seconds - points.front().seconds) / static_cast<double>(points.size() - 1);
  return static_cast<double>(period) * step;
}

}  // namespace ebb::trend
