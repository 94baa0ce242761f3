// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "fl/aggregate/update_group.h"
#include "fl/ranks.h"

namespace ebb::fl {

/// The weighted sum of model updates, added as clients finish: 8 bytes per parameter for any number
/// of clients. Each contribution is rounded by itself to a multiple of a small unit, and so is its
/// weight; the rest is integer arithmetic, so that order, threads and ranks cannot change a bit of
/// the result. add() is thread-safe, the rest is not.
class UpdateSum {
 public:
  /// No parameter may move further than this in one round.
  static constexpr double kLargestMove = 256;

  /// `largest_weight`: no sum of weights will exceed it.
  UpdateSum(std::size_t parameters, double largest_weight);

  /// Adds weight * factor * (to - from). Code::bad_input, with nothing added, where a parameter is
  /// not finite or moved further than kLargestMove. `factor` is at most 1.
  base::Status add(std::span<const float> from, std::span<const float> to, double weight,
                   double factor = 1) EBB_EXCLUDES(mutex_);

  /// How an update counts; a weight of 0: not at all.
  struct Share {
    double weight = 0;
    double factor = 1;
  };
  /// The same for several updates where they are, `shares` one for each: the same bits as one by
  /// one. Fails with nothing added. Requires: those that count moved no further than kLargestMove.
  base::Status add(UpdateGroup& updates, std::span<const Share> shares) EBB_EXCLUDES(mutex_);

  /// Sums of a first group stay where they were made until somebody wants them here: this brings
  /// them.
  base::Status bring() EBB_EXCLUDES(mutex_);
  /// Adds what the other ranks have.
  base::Status sum_over(Ranks& ranks);

  /// Sum of the weights; 0 while nothing was added.
  double weight() const;
  /// Where all of the sum is where a group was trained: moves `weights` there, as
  /// SumsThere::move does. False where they have to be moved here, after bring().
  bool move_there(std::span<float> weights, double divisor, double rate) EBB_EXCLUDES(mutex_);
  /// Element `index` of the weighted sum over all. Requires: bring().
  double sum(std::size_t index) const { return static_cast<double>(sums_[index]) * unit_; }
  std::size_t parameters() const { return sums_.size() - 1; }

  void clear();

  /// For a checkpoint: the sums in units, the weight last. Requires: bring().
  std::span<const std::int64_t> raw() const { return sums_; }
  std::span<std::int64_t> raw() EBB_EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    has_some_here_ = true;  // what a checkpoint brings back
    return sums_;
  }

 private:
  double scale_of(const Share& share) const { return share.weight * share.factor / unit_; }
  base::Status bring_what_is_there() EBB_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::unique_ptr<SumsThere> there_ EBB_GUARDED_BY(mutex_);
  bool has_some_here_ EBB_GUARDED_BY(mutex_) = false;  ///< beside weights
  double unit_;
  std::vector<std::int64_t> sums_;  ///< the last one is the weight, in units of kWeightUnit
};

}  // namespace ebb::fl
