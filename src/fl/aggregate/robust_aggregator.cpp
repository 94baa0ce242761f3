// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/robust_aggregator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace ebb::fl {

base::Result<std::unique_ptr<Aggregator>> RobustAggregator::create(const Aggregation& options,
                                                                   const AggregatorShape& shape) {
  auto spill = Spill::create(shape.spill_folder, std::size_t{shape.per_round} * shape.parameters);
  if (!spill) return spill.error();
  return std::unique_ptr<Aggregator>(new RobustAggregator(options, shape, std::move(*spill)));
}

RobustAggregator::RobustAggregator(const Aggregation& options, const AggregatorShape& shape,
                                   Spill spill)
    : options_(options),
      parameters_(shape.parameters),
      per_round_(shape.per_round),
      spill_(std::move(spill)),
      arrived_(shape.per_round) {}

base::Status RobustAggregator::add(const Contribution& contribution, std::span<const float> from,
                                   std::span<const float> to) {
  EBB_CHECK(contribution.place < per_round_ && contribution.late == 0);
  const std::span<float> row =
      spill_.values().subspan(contribution.place * parameters_, parameters_);
  for (std::size_t i = 0; i < parameters_; ++i) {
    row[i] = static_cast<float>(contribution.factor * (static_cast<double>(to[i]) - from[i]));
    if (!std::isfinite(row[i]))
      return base::error(base::Code::bad_input, "parameter %zu went from %g to %g", i,
                         static_cast<double>(from[i]), static_cast<double>(to[i]));
  }
  spill_.write_out(contribution.place * parameters_, parameters_);
  arrived_[contribution.place] = 1;
  return {};
}

double RobustAggregator::settle(std::span<float> values) const {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  if (options_.rule == Rule::median)
    return (static_cast<double>(values[(count - 1) / 2]) + values[count / 2]) / 2;
  const auto dropped = std::min(
      static_cast<std::size_t>(options_.trim * static_cast<double>(count)), (count - 1) / 2);
  const std::span<float> kept = values.subspan(dropped, count - 2 * dropped);
  return std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
}

base::Status RobustAggregator::finish_round(std::span<float> weights, Ranks& ranks, const Noise&) {
  const std::vector<std::int64_t> here = arrived_;
  if (auto summed = ranks.sum(arrived_); !summed) return summed;
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < per_round_; ++place) {
    if (arrived_[place] != 0) places.push_back(place);
  }
  std::vector<std::int64_t> block;
  std::vector<float> column(places.size());
  for (std::size_t at = 0; at < parameters_ && !places.empty(); at += kBlock) {
    const std::size_t width = std::min(kBlock, parameters_ - at);
    // Each update is on one rank; the others add nothing to its bits.
    block.assign(places.size() * width, 0);
    for (std::size_t row = 0; row < places.size(); ++row) {
      if (here[places[row]] == 0) continue;
      const auto values = spill_.values().subspan(places[row] * parameters_ + at, width);
      for (std::size_t i = 0; i < width; ++i)
        block[row * width + i] = std::bit_cast<std::uint32_t>(values[i]);
    }
    if (auto summed = ranks.sum(block); !summed) return summed;
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t row = 0; row < places.size(); ++row)
        column[row] = std::bit_cast<float>(static_cast<std::uint32_t>(block[row * width + i]));
      weights[at + i] = static_cast<float>(static_cast<double>(weights[at + i]) +
                                           options_.server_lr * settle(column));
    }
  }
  spill_.release();
  arrived_.assign(arrived_.size(), 0);
  return {};
}

}  // namespace ebb::fl
