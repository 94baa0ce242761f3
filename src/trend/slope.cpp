// SPDX-License-Identifier: Apache-2.0
#include "trend/slope.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ebb::trend {
namespace {

constexpr double kNormal95 = 1.959964;

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// Not every n-th point: rounds come at equal distances too, and would all be met in one phase.
std::vector<Point> one_of_each_part(std::span<const Point> points, std::size_t parts) {
  std::vector<Point> chosen;
  chosen.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = i * points.size() / parts;
    const std::size_t end = (i + 1) * points.size() / parts;
    chosen.push_back(points[begin + mixed(i) % (end - begin)]);
  }
  return chosen;
}

/// How many times wider than for independent points the variance of Kendall's S is.
double variance_factor(const std::vector<double>& residuals) {
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    square += residuals[i] * residuals[i];
    if (i > 0) product += residuals[i] * residuals[i - 1];
  }
  if (square <= 0) return 1;
  const auto count = static_cast<double>(residuals.size());
  if (count <= 8) return 1;
  // Fitting a line hides some of the correlation: the estimate is too low by (2 + 4 rho) / n.
  const double rho = std::clamp((product / square + 2 / count) / (1 - 4 / count), 0.0, 0.95);
  return (1 + rho) / (1 - rho);
}

}  // namespace

bool Slope::bounded() const {
  return std::isfinite(low) && std::isfinite(high);
}

std::optional<Slope> theil_sen(std::span<const Point> points) {
  std::vector<Point> chosen;
  if (points.size() > kExactPoints) {
    chosen = one_of_each_part(points, kExactPoints);
    points = chosen;
  }
  if (points.size() < 3) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double time = points[j].seconds - points[i].seconds;
      if (time > 0) slopes.push_back((points[j].value - points[i].value) / time);
    }
  }
  if (slopes.empty()) return std::nullopt;

  Slope slope;
  slope.points = points.size();
  slope.per_second = median(slopes);
  std::vector<double> residuals;
  for (const Point& point : points)
    residuals.push_back(point.value - slope.per_second * (point.seconds - points.front().seconds));
  slope.start = median(residuals);
  slope.end = slope.start + slope.per_second * (points.back().seconds - points.front().seconds);
  for (double& residual : residuals)
    residual -= slope.start;

  const auto count = static_cast<double>(points.size());
  const double variance = count * (count - 1) * (2 * count + 5) / 18;
  const double reach = kNormal95 * std::sqrt(variance);
  const auto last = static_cast<double>(slopes.size() - 1);
  slope.low = -std::numeric_limits<double>::infinity();
  slope.high = std::numeric_limits<double>::infinity();
  if (std::floor((last + 1 - reach) / 2) >= 1) {
    // Correlation may ask for more than there are pairs: then all of them are the interval.
    const double wider = reach * std::sqrt(variance_factor(residuals));
    const auto at_rank = [&](double rank) {
      const auto place = slopes.begin() + static_cast<std::ptrdiff_t>(std::clamp(rank, 0.0, last));
      std::nth_element(slopes.begin(), place, slopes.end());
      return *place;
    };
    slope.low = at_rank(std::floor((last + 1 - wider) / 2) - 1);
    slope.high = at_rank(std::ceil((last + 1 + wider) / 2));
  }
  for (double& residual : residuals)
    residual = std::abs(residual);
  slope.noise = median(std::move(residuals));
  return slope;
}

std::optional<TimeUntil> time_until(const Slope& slope, double limit) {
  const double room = limit - slope.end;
  if (!slope.bounded() || slope.per_second <= 0 || room <= 0) return std::nullopt;
  TimeUntil until;
  until.likely = room / slope.per_second;
  until.soonest = room / slope.high;
  if (slope.low > 0) until.latest = room / slope.low;
  return until;
}

}  // namespace ebb::trend
