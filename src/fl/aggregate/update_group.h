// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// Sums of updates, still where those were trained, with the model that all of them started from.
class SumsThere {
 public:
  virtual ~SumsThere() = default;

  /// Adds them to `sums`, which are on the host. Fails with nothing added.
  virtual base::Status add_to(std::span<std::int64_t> sums) = 0;
  /// What MeanAggregator makes of `weights` on the host, to the bit: each goes `rate` times its sum
  /// times `unit` by `divisor` further. Fails with nothing moved. Requires: `weights` are the model
  /// that all started from.
  virtual base::Status move(std::span<float> weights, double unit, double divisor, double rate) = 0;
};

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

  /// What sketch_of makes of the update at `place`, up to rounding.
  virtual base::Result<std::vector<float>> sketch(std::size_t place) = 0;

  /// The whole model at `place`, on the host; valid until the next call.
  virtual base::Result<std::span<const float>> fetch(std::size_t place) = 0;

  /// For each parameter the sum of (to - from) * scale of every update with a scale, each computed
  /// in double and rounded to a whole number, half to even: the bits of UpdateSum. They outlive the
  /// group. Null where there is nothing to add. Requires: a scale for each place, 0 where an update
  /// takes no part; those that do have moved no further than UpdateSum::kLargestMove.
  virtual base::Result<std::unique_ptr<SumsThere>> sum_up(std::span<const double> scales) = 0;
};

}  // namespace ebb::fl
