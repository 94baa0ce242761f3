// SPDX-License-Identifier: Apache-2.0
#include "trend/series.h"

#include <algorithm>

#include "base/check.h"

namespace ebb::trend {
namespace {

template <class Better>
std::vector<Point> best_of_windows(std::span<const Point> points, std::size_t windows,
                                   Better better) {
  std::vector<Point> best;
  if (points.empty() || windows == 0) return best;
  const double begin = points.front().seconds;
  const double length = points.back().seconds - begin;
  std::size_t last_window = windows;
  for (const Point& point : points) {
    const double share = length > 0 ? (point.seconds - begin) / length : 0;
    const auto window =
        std::min(static_cast<std::size_t>(share * static_cast<double>(windows)), windows - 1);
    if (window != last_window) {
      best.push_back(point);
      last_window = window;
    } else if (better(point.value, best.back().value)) {
      best.back() = point;
    }
  }
  return best;
}

}  // namespace

double median(std::vector<double> values) {
  EBB_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

BoundedSeries::BoundedSeries(std::size_t capacity) : capacity_(capacity) {
  EBB_CHECK(capacity >= 2);
}

void BoundedSeries::add(Point point) {
  ++added_;
  if (pending_ > 0 && pending_ < merged_) {
    ++pending_;
    if (point.value < points_.back().value) points_.back() = point;
    return;
  }
  if (points_.size() == capacity_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points_.size(); i += 2) {
      const bool next_is_lower = i + 1 < points_.size() && points_[i + 1].value < points_[i].value;
      points_[kept++] = points_[next_is_lower ? i + 1 : i];
    }
    const bool last_is_half = points_.size() % 2 == 1;
    points_.resize(kept);
    pending_ = last_is_half ? merged_ : 2 * merged_;
    merged_ *= 2;
    if (last_is_half) {
      ++pending_;
      if (point.value < points_.back().value) points_.back() = point;
      return;
    }
  }
  points_.push_back(point);
  pending_ = 1;
}

std::vector<Point> floors(std::span<const Point> points, std::size_t windows) {
  return best_of_windows(points, windows, [](double a, double b) { return a < b; });
}

std::vector<Point> ceilings(std::span<const Point> points, std::size_t windows) {
  return best_of_windows(points, windows, [](double a, double b) { return a > b; });
}

std::vector<Point> floors_of_rounds(std::span<const Point> points,
                                    std::span<const double> round_ends) {
  std::vector<Point> lowest;
  auto point = points.begin();
  for (const double end : round_ends) {
    const auto first = point;
    auto best = point;
    for (; point != points.end() && point->seconds <= end; ++point)
      if (point->value < best->value) best = point;
    if (point != first) lowest.push_back(*best);
  }
  return lowest;
}

}  // namespace ebb::trend
