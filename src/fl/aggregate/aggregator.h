// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/aggregate/update_group.h"
#include "fl/config.h"
#include "fl/ranks.h"

namespace ebb::fl {

/// An update on its way into the model.
struct Contribution {
  std::uint32_t place = 0;  ///< in the cohort: no two of one round share it
  double weight = 1;        ///< samples, or 1 for all under differential privacy
  double factor = 1;        ///< that clipping multiplies it by
  std::uint32_t late = 0;   ///< rounds until it arrives
};

/// One of a group of updates.
struct GroupContribution {
  Contribution contribution;
  std::size_t place = 0;  ///< in the group
  bool added = false;     ///< what failed half-way goes on with the others
};

/// Parts of the aggregator's state, for a checkpoint: as large as the model, times a few.
struct AggregatorState {
  std::vector<std::span<std::byte>> parts;
};

/// Takes updates as clients finish and turns them into the next global model. add() is thread-safe.
class Aggregator {
 public:
  virtual ~Aggregator() = default;

  /// The update `to - from`. Code::bad_input where it is not finite or beyond all measure.
  virtual base::Status add(const Contribution& contribution, std::span<const float> from,
                           std::span<const float> to) = 0;

  /// The same for updates of a group, each of which started from `from`. Here each is fetched; a
  /// rule that needs sums alone leaves them where they are. Notes what was added, also where it
  /// fails.
  virtual base::Status add_group(std::span<GroupContribution> contributions,
                                 std::span<const float> from, UpdateGroup& updates);

  /// Moves `weights` by what arrived for this round on all ranks; the same bits on each. Nothing
  /// arrived: the model stays. `noise`: standard deviation per parameter that privacy adds to the
  /// sum, of the stream of (seed, round).
  struct Noise {
    double deviation = 0;
    std::uint64_t seed = 0;
    std::uint32_t round = 0;
    double denominator = 0;  ///< the sum is divided by this; 0: by the sum of the weights
  };
  virtual base::Status finish_round(std::span<float> weights, Ranks& ranks, const Noise& noise) = 0;

  /// Memory that belongs to it, to be saved between rounds and written back.
  virtual AggregatorState state() = 0;

  /// After state() was written back on every rank: what belongs to the first one alone is dropped
  /// on the others.
  virtual void forget_others(const Ranks&) {}
};

struct AggregatorShape {
  std::size_t parameters = 0;
  std::uint32_t per_round = 0;
  double largest_weight = 0;  ///< that the weights of one round can add up to
  std::uint32_t staleness = 0;
  std::string spill_folder;  ///< of the file for rules that need all updates at once
};

base::Result<std::unique_ptr<Aggregator>> create_aggregator(const Aggregation& options,
                                                            const AggregatorShape& shape);

/// What create_aggregator's would take, without creating it.
struct AggregatorNeed {
  std::uint64_t accumulators = 0;
  std::uint64_t server_state = 0;
  std::uint64_t spill = 0;  ///< on disk
};
AggregatorNeed need_of(const Aggregation& options, const AggregatorShape& shape);

}  // namespace ebb::fl
