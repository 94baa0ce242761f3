// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "fl/aggregate/aggregator.h"
#include "fl/aggregate/update_sum.h"

namespace ebb::fl {

/// How many numbers per parameter the server keeps from round to round.
std::uint64_t moments_of(Rule rule);

/// The rules that need nothing but the weighted mean: one accumulator for this round, and one more
/// for each round that an update may be late.
class MeanAggregator final : public Aggregator {
 public:
  MeanAggregator(const Aggregation& options, const AggregatorShape& shape);

  base::Status add(const Contribution& contribution, std::span<const float> from,
                   std::span<const float> to) override;
  base::Status add_group(std::span<GroupContribution> contributions, std::span<const float> from,
                         UpdateGroup& updates) override;
  base::Status finish_round(std::span<float> weights, Ranks& ranks, const Noise& noise) override;
  AggregatorState state() override;
  void forget_others(const Ranks& ranks) override;

 private:
  /// Whether a parameter moves by its mean times the server's rate, and nothing else.
  bool only_scales(const Noise& noise) const;
  /// Moves weights by the sum that is here.
  void move(std::span<float> weights, double divisor, const Noise& noise);
  /// What the server makes of the mean update of one parameter.
  double step(std::size_t index, double mean);

  const Aggregation options_;
  /// The first is this round's, the next the next one's.
  std::vector<std::unique_ptr<UpdateSum>> sums_;
  std::vector<float> momentum_;
  std::vector<float> variance_;
};

}  // namespace ebb::fl
