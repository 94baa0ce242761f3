// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "replay/replayer.h"
#include "replay/tune/futures.h"
#include "replay/tune/growth.h"

namespace ebb::replay {

/// What came of one setting in one future.
struct Followed {
  std::uint64_t peak = 0;        ///< most reserved
  std::uint64_t allocated = 0;   ///< most allocated: what the allocator made of what was live
  std::uint64_t live = 0;        ///< most that was live, which no allocator can go below
  std::vector<StepEnd> steps;    ///< without what comes before them
  std::vector<Rise> rises;       ///< of what is reserved
  bool out_of_memory = false;    ///< it ends there; `live` is that of the whole future
  std::optional<Growth> growth;  ///< unless it ran out of memory: nobody knows what was to come
};

/// Most held so far when a step ends, over all futures. One that has stood still, or run out of
/// memory, is taken to stay as it is.
struct FanStep {
  std::uint64_t least = 0;   ///< reserved, in the future with the least
  std::uint64_t median = 0;  ///< as a rule: more than half of the futures hold as much
  std::uint64_t worst = 0;
  std::uint64_t live = 0;  ///< allocated, in the future with the most
};

/// What comes of one setting as a job goes on: what `ebb tune` and `ebb doctor` both tell. Without
/// a limit, unless the setting itself acts by it: garbage collection begins at a share of the
/// limit.
class Foresight {
 public:
  /// Requires: at least one future.
  Foresight(std::vector<Followed> futures, std::uint64_t limit);

  /// From the least reserved to the most.
  const std::vector<Followed>& futures() const { return futures_; }
  /// The future that stands for the rule: more than half of them hold as much as it does.
  const Followed& rule() const { return futures_[(futures_.size() - 1) / 2]; }
  const Followed& worst() const { return futures_.back(); }
  /// Under which it was followed: kUnlimited for none.
  std::uint64_t limit() const { return limit_; }
  /// How many futures run out of memory under it.
  std::uint64_t out_of_memory() const;
  /// The largest multiple of what was live at most in the same future, of those that do not run out
  /// of memory; nothing where all do.
  std::optional<double> over_live() const;
  /// As many steps as the longest future has: none where each runs out of memory in its first.
  std::vector<FanStep> fan() const;

 private:
  std::vector<Followed> futures_;
  std::uint64_t limit_;
};

/// Operations of a future that is to be as long as so many recordings: as many, but not beyond four
/// million, unless a single recording is.
std::uint64_t operations_in(std::uint64_t length, std::uint64_t recorded);

/// Looks at a job as it goes on, under each of these settings: in the same futures, each followed
/// for as long as it takes to tell whether memory stands still, which is four times the recorded
/// operations, then twice as far each time, at the most 32 times and within four million
/// operations, or as many as were recorded where those are more. How many futures follows from the
/// recording alone: 4 to 16 where steps differ, else one. What a setup keeps is of no account, nor
/// is its limit but for garbage collection. Uses all cores. `between` is called on the calling
/// thread, with the share that is done, and may throw to end it.
std::vector<Foresight> foresee(const FutureMaker& maker, std::uint64_t recorded_operations,
                               const std::vector<Setup>& setups,
                               const std::function<void(double share)>& between = {});

}  // namespace ebb::replay
