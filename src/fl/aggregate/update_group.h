// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace ebb::fl {

/// Updates of clients that trained side by side from one model, still where they were trained: only
/// numbers and sums come to the host, unless a whole model is asked for. Not thread-safe.
class UpdateGroup {
 public:
  virtual ~UpdateGroup() = default;

  virtual std::size_t size() const = 0;
  /// Euclidean norm of the update at `place`: the same bits in a group of any size.
  virtual double norm(std::size_t place) const = 0;
  /// How far the parameter moved that moved furthest; no number where an update has one that is
  /// none.
  virtual double largest_move(std::size_t place) const = 0;

  /// The whole model at `place`, on the host; valid until the next call.
  virtual base::Result<std::span<const float>> fetch(std::size_t place) = 0;

  /// Adds to `sums`, for each parameter, (to - from) * scale of every update with a scale, each
  /// computed in double and rounded to a whole number, half to even: the bits of UpdateSum. Fails
  /// with nothing added. Requires: a scale for each place, 0 where an update takes no part; those
  /// that do have moved no further than UpdateSum::kLargestMove.
  virtual base::Status add_up(std::span<const double> scales, std::span<std::int64_t> sums) = 0;
};

}  // namespace ebb::fl
