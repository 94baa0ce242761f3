// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/aggregator.h"

#include "fl/aggregate/mean_aggregator.h"
#include "fl/aggregate/robust_aggregator.h"

namespace ebb::fl {
namespace {

bool is_robust(Rule rule) {
  return rule == Rule::median || rule == Rule::trimmed_mean;
}

}  // namespace

base::Status Aggregator::add_group(std::span<GroupContribution> contributions,
                                   std::span<const float> from, UpdateGroup& updates) {
  for (GroupContribution& one : contributions) {
    if (one.added) continue;
    const auto to = updates.fetch(one.place);
    if (!to) return to.error();
    if (auto added = add(one.contribution, from, *to); !added) return added;
    one.added = true;
  }
  return {};
}

base::Result<std::unique_ptr<Aggregator>> create_aggregator(const Aggregation& options,
                                                            const AggregatorShape& shape) {
  if (is_robust(options.rule)) return RobustAggregator::create(options, shape);
  return std::unique_ptr<Aggregator>(std::make_unique<MeanAggregator>(options, shape));
}

AggregatorNeed need_of(const Aggregation& options, const AggregatorShape& shape) {
  AggregatorNeed need;
  if (is_robust(options.rule)) {
    need.accumulators = RobustAggregator::kBlock * shape.per_round * sizeof(std::int64_t);
    need.spill = std::uint64_t{shape.per_round} * shape.parameters * sizeof(float);
    return need;
  }
  need.accumulators =
      (1 + std::uint64_t{shape.staleness}) * shape.parameters * sizeof(std::int64_t);
  need.server_state = moments_of(options.rule) * shape.parameters * sizeof(float);
  return need;
}

}  // namespace ebb::fl
