// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "fl/aggregate/aggregator.h"
#include "fl/aggregate/spill.h"

namespace ebb::fl {

/// The rules that need every update of a round at once: they lie in a mapped file, and the model is
/// gone through block by block.
class RobustAggregator final : public Aggregator {
 public:
  /// Parameters that are looked at together.
  static constexpr std::size_t kBlock = 4096;

  /// Code::io where the file cannot be made.
  static base::Result<std::unique_ptr<Aggregator>> create(const Aggregation& options,
                                                          const AggregatorShape& shape);

  base::Status add(const Contribution& contribution, std::span<const float> from,
                   std::span<const float> to) override;
  base::Status finish_round(std::span<float> weights, Ranks& ranks, const Noise& noise) override;
  AggregatorState state() override { return {}; }

 private:
  RobustAggregator(const Aggregation& options, const AggregatorShape& shape, Spill spill);

  /// What the rule makes of one parameter's updates, which it sorts.
  double settle(std::span<float> values) const;

  const Aggregation options_;
  const std::size_t parameters_;
  const std::uint32_t per_round_;
  Spill spill_;                        ///< one row of updates per place in the cohort
  std::vector<std::int64_t> arrived_;  ///< 1 per place whose update is in
};

}  // namespace ebb::fl
