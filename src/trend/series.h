// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ebb::trend {

// The layer `trend` is the statistics behind every verdict about memory over time: robust slopes
// with their intervals, floors, change points. It gives numbers; what they mean is said elsewhere.
// All functions are pure and expect finite numbers in order of time.

/// One value at one time.
struct Point {
  double seconds = 0;  ///< since any start
  double value = 0;

  bool operator==(const Point&) const = default;
};

/// The median; the mean of the middle two for an even count. Requires: not empty.
double median(std::vector<double> values);

/// A series that never holds more than `capacity` points, however long it is fed: when it is full,
/// neighbours are merged into the lower of the two, so that floors stay exact. Not thread-safe.
class BoundedSeries {
 public:
  /// Requires: capacity >= 2.
  explicit BoundedSeries(std::size_t capacity = 2048);

  /// Points must come in order of time.
  void add(Point point);

  std::span<const Point> points() const { return points_; }
  std::size_t added() const { return added_; }

 private:
  std::size_t capacity_;
  std::size_t merged_ = 1;   ///< how many added points one kept point stands for
  std::size_t pending_ = 0;  ///< how many of them the last kept point has so far
  std::size_t added_ = 0;
  std::vector<Point> points_;
};

/// The lowest point of each of `windows` parts of equal length in time; parts without a point give
/// none. What memory comes back to is the trend; what it rises to in between is the work.
std::vector<Point> floors(std::span<const Point> points, std::size_t windows);

/// The highest point of each part.
std::vector<Point> ceilings(std::span<const Point> points, std::size_t windows);

/// The lowest point of each round: from one of `round_ends` (seconds, ascending) to the next, the
/// first from the beginning. Points after the last end belong to a round that is not over.
std::vector<Point> floors_of_rounds(std::span<const Point> points,
                                    std::span<const double> round_ends);

}  // namespace ebb::trend
