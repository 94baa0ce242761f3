// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/place_growth.h"

#include <algorithm>

#include "trend/slope.h"

namespace ebb::replay {
namespace {

constexpr std::size_t kStepsForCertainty = 16;

/// Over the number of the step.
std::optional<trend::Slope> slope_through(const Amounts& amounts, std::size_t stride) {
  std::vector<trend::Point> points;
  for (std::size_t i = 0; i < amounts.size(); ++i)
    points.push_back({static_cast<double>(i * stride), static_cast<double>(amounts[i])});
  return trend::theil_sen(points);
}

}  // namespace

PlaceGrowth::PlaceGrowth(const HeldOverTime& held) : steps_(held.steps()) {
  if (!steps_.are_enough) return;
  const Amounts all = live_of(held.totals());
  all_ = all.front();
  if (const auto slope = slope_through(all, steps_.stride)) pace_ = slope->per_second;
}

std::optional<StepGrowth> PlaceGrowth::of(const std::vector<std::uint64_t>& over_time,
                                          const Amounts& kept) const {
  if (!steps_.are_enough) return std::nullopt;
  const Amounts live = live_of(over_time);
  const Amounts left = left_of(kept);
  if (is_steady(left) && is_much(sum_of(left), all_) && live.back() > live.front()) {
    StepGrowth growth = growth_of(kept_series(kept));
    growth.by_kept = true;
    return growth;
  }
  if (!steady_rise(live, all_)) return std::nullopt;
  const bool stays = over_time[steps_.end] >= live.front() + (live.back() - live.front()) / 2;
  return stays ? std::optional(growth_of(live_series(over_time))) : std::nullopt;
}

double PlaceGrowth::part_of(bool by_kept, const std::vector<std::uint64_t>& over_time,
                            const Amounts& kept) const {
  return pace_of(by_kept ? kept_series(kept) : live_series(over_time));
}

Amounts PlaceGrowth::live_of(const std::vector<std::uint64_t>& over_time) const {
  Amounts amounts;
  for (std::size_t i = steps_.settled; i < steps_.moments.size(); ++i)
    amounts.push_back(over_time[steps_.moments[i]]);
  return amounts;
}

Amounts PlaceGrowth::left_of(const Amounts& kept) const {
  return {kept.begin() + static_cast<std::ptrdiff_t>(steps_.settled),
          kept.end() - static_cast<std::ptrdiff_t>(kUnfinishedSteps)};
}

PlaceGrowth::Series PlaceGrowth::kept_series(const Amounts& kept) const {
  const Amounts left = left_of(kept);
  Series series{{0}, sum_of(left), left.size()};
  for (const std::uint64_t amount : left)
    series.amounts.push_back(series.amounts.back() + amount);
  return series;
}

PlaceGrowth::Series PlaceGrowth::live_series(const std::vector<std::uint64_t>& over_time) const {
  Series series{live_of(over_time), 0, 1};
  const Amounts& live = series.amounts;
  if (live.back() > live.front()) series.bytes = live.back() - live.front();
  series.strides = live.size() - 1;
  return series;
}

double PlaceGrowth::pace_of(const Series& series) const {
  return static_cast<double>(series.bytes) / static_cast<double>(series.strides * steps_.stride);
}

StepGrowth PlaceGrowth::growth_of(const Series& series) const {
  StepGrowth growth;
  growth.per_step = pace_of(series);
  growth.share = pace_ > 0 ? std::min(growth.per_step / pace_, 1.0) : 0;
  const auto slope = slope_through(series.amounts, steps_.stride);
  if (!slope || !slope->bounded()) return growth;
  growth.range = {std::min(slope->low, growth.per_step), std::max(slope->high, growth.per_step)};
  const bool is_narrow = slope->low > growth.per_step / 2;
  if (is_narrow && series.amounts.size() >= kStepsForCertainty)
    growth.confidence = fact::Confidence::high;
  return growth;
}

}  // namespace ebb::replay
