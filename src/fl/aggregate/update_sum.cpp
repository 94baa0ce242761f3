// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/update_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "fl/in_parts.h"

namespace ebb::fl {
namespace {

/// Weights are counts of samples, or such a count over a small number.
constexpr double kWeightUnit = 0x1p-30;

/// Two bits fewer than a signed 64-bit integer has, because contributions may be rounded up.
constexpr int kUsableBits = 61;

/// True for NaN as well, which compares as false: hence the negation.
bool is_too_far(float from, float to) {
  return !(std::fabs(static_cast<double>(to) - static_cast<double>(from)) <=
           UpdateSum::kLargestMove);
}

base::Status check_moves(std::span<const float> from, std::span<const float> to) {
  // No early exit, so that the compiler can vectorise the loop.
  unsigned bad = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    bad |= is_too_far(from[i], to[i]) ? 1U : 0U;
  for (std::size_t i = 0; bad != 0 && i < from.size(); ++i) {
    if (is_too_far(from[i], to[i]))
      return base::error(base::Code::bad_input, "parameter %zu went from %g to %g", i,
                         static_cast<double>(from[i]), static_cast<double>(to[i]));
  }
  return {};
}

}  // namespace

UpdateSum::UpdateSum(std::size_t parameters, double largest_weight) : sums_(parameters + 1) {
  EBB_CHECK(largest_weight > 0 && largest_weight < 0x1p32);
  int exponent = 0;
  std::frexp(largest_weight * kLargestMove, &exponent);
  unit_ = std::ldexp(1, exponent - kUsableBits);
}

base::Status UpdateSum::add(std::span<const float> from, std::span<const float> to, double weight,
                            double factor) {
  EBB_CHECK(from.size() == parameters() && to.size() == parameters());
  EBB_CHECK(weight >= 0 && factor >= 0 && factor <= 1);
  if (auto sound = check_moves(from, to); !sound) return sound;
  const double scale = scale_of({weight, factor});
  const base::Lock lock(mutex_);
  if (auto brought = bring_what_is_there(); !brought) return brought;
  has_some_here_ = true;
  for (std::size_t i = 0; i < from.size(); ++i)
    sums_[i] += std::llrint((static_cast<double>(to[i]) - from[i]) * scale);
  sums_.back() += std::llrint(weight / kWeightUnit);
  return {};
}

base::Status UpdateSum::add(UpdateGroup& updates, std::span<const Share> shares) {
  EBB_CHECK(shares.size() == updates.size());
  std::vector<double> scales;
  std::int64_t weights = 0;
  for (const Share& share : shares) {
    EBB_CHECK(share.weight >= 0 && share.factor >= 0 && share.factor <= 1);
    scales.push_back(scale_of(share));
    weights += std::llrint(share.weight / kWeightUnit);
  }
  auto made = updates.sum_up(scales);
  if (!made) return made.error();
  const base::Lock lock(mutex_);
  if (*made && (there_ || has_some_here_)) {
    if (auto brought = bring_what_is_there(); !brought) return brought;
    if (auto added = (*made)->add_to(std::span(sums_).first(parameters())); !added) return added;
    has_some_here_ = true;
  } else if (*made) {
    there_ = std::move(*made);
  }
  sums_.back() += weights;
  return {};
}

base::Status UpdateSum::bring_what_is_there() {
  if (!there_) return {};
  if (auto added = there_->add_to(std::span(sums_).first(parameters())); !added) return added;
  there_.reset();
  has_some_here_ = true;
  return {};
}

base::Status UpdateSum::bring() {
  const base::Lock lock(mutex_);
  return bring_what_is_there();
}

bool UpdateSum::move_there(std::span<float> weights, double divisor, double rate) {
  const base::Lock lock(mutex_);
  // What has no room there is done here.
  return there_ && there_->move(weights, unit_, divisor, rate).has_value();
}

base::Status UpdateSum::sum_over(Ranks& ranks) {
  if (ranks.size() == 1) return {};
  if (auto brought = bring(); !brought) return brought;
  return ranks.sum(raw());
}

double UpdateSum::weight() const {
  return static_cast<double>(sums_.back()) * kWeightUnit;
}

void UpdateSum::clear() {
  const base::Lock lock(mutex_);
  there_.reset();
  sums_.back() = 0;
  if (!std::exchange(has_some_here_, false)) return;
  in_parts(sums_.size(), [&](std::size_t first, std::size_t end) {
    std::fill(sums_.data() + first, sums_.data() + end, 0);
  });
}

}  // namespace ebb::fl
