// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fl/aggregate/sketch.h"

namespace ebb::fl {

/// How far two trainings from the same weights are apart, for each step of the way that the first
/// went. Single weights say little: a sign at a kink of the network may be rounded the other way.
inline double apart(std::span<const float> from, std::span<const float> one,
                    std::span<const float> other) {
  return distance(one, other) / distance(from, one);
}

/// What rounding alone comes to is 1e-6 to 1e-5, and up to 2e-4 on some processors, where a unit
/// falls on the other side of zero. Other masks or batches make all of the difference.
inline constexpr double kRounding = 1e-3;

}  // namespace ebb::fl
