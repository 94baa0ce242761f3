// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "trend/series.h"

namespace ebb::trend {

/// How the places of change points are looked for.
struct ChangeOptions {
  std::size_t least_points = 6;  ///< on either side of a change
  /// Two lines must leave at most this share of one line's absolute deviation. Chance alone leaves
  /// more than this on white noise, and mostly on correlated noise.
  double most_left = 0.5;
};

/// Where a series changes its level or its slope: the indices of the first points afterwards,
/// ascending. Each stretch in between is described by its own robust line; jumps of like
/// size at like distances are such a line, not changes. For at most some hundred
/// points (floors): the work grows with their cube.
std::vector<std::size_t> change_points(std::span<const Point> points,
                                       const ChangeOptions& options = {});

/// The length in seconds of the rounds that a series goes through, from the autocorrelation of what
/// a straight line leaves; nothing where it shows none, or fewer than four of them.
std::optional<double> period_of(std::span<const Point> points);

}  // namespace ebb::trend
