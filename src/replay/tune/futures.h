// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "replay/tune/lengths.h"
#include "replay/tune/steps.h"
#include "replay/workload.h"

namespace ebb::replay {

/// How a future was made from what was recorded.
enum class Source : std::uint8_t {
  repeated,    ///< the recorded steps, over and over
  resampled,   ///< recorded steps in another order
  lengthened,  ///< steps of sizes that were not recorded, but follow from those that were
  pieces,      ///< of a job that does not repeat itself
};
const char* name_of(Source source);

/// A job that could have gone on from what was recorded: what happens once, then step upon step.
struct Future {
  Workload work;
  std::vector<std::uint32_t> ends;  ///< the operation after each step
  Source source = Source::repeated;
};

/// Makes futures of one recorded job. Keeps no reference to it. Thread-safe once made.
class FutureMaker {
 public:
  explicit FutureMaker(const Workload& job);

  const Steps& steps() const { return steps_; }
  /// Whether futures differ at all.
  bool varies() const { return varies_; }
  /// How future `number` is made. The first one repeats what was recorded.
  Source source_of(std::uint64_t number) const;

  /// Future `number` of at least `operations` operations, in whole steps. A longer one of the same
  /// number begins with the shorter one.
  Future make(std::uint64_t number, std::uint64_t operations) const;

  /// Future `number` with the sizes that differ between steps stretched or shrunk to lie between
  /// those of two recorded steps: no forecast, since nobody knows that they grow together, but a
  /// trial of what is left of an advantage where sizes are not those that were recorded.
  Future stretch(std::uint64_t number, std::uint64_t operations) const;
  /// Whether there are sizes that differ between steps.
  bool stretches() const;

 private:
  /// What becomes of a block in a later step.
  struct Fate {
    Operation::Kind kind = Operation::Kind::free;
    std::uint16_t stream = 0;
    std::uint16_t pool = 0;
    std::uint32_t steps_later = 0;
    double place = 0;  ///< in that step, from 0 to 1
  };
  struct Block {
    std::uint64_t bytes = 0;
    std::uint32_t ordinal = 0;  ///< among the allocations of its step
    std::uint16_t stream = 0;
    std::uint16_t pool = 0;
    bool constant = false;  ///< most steps allocate this size
    bool once = false;      ///< never freed, and not something that every step leaves behind
    std::vector<Fate>
        fates;  ///< in later steps; what happens in its own step is among the operations
  };
  struct Step {
    std::vector<Operation> operations;  ///< on blocks of its own, which `block` counts from 0
    std::vector<Block> blocks;
  };
  class Writer;
  class Counterparts;

  void take_apart(const Workload& job);
  void foresee_fates();
  void foresee_ends(Counterparts& counterparts);
  void foresee_completions(Counterparts& counterparts);
  void tell_leaks_from_caches();
  void tell_constant_sizes();
  void fit_lengths();
  double stretch_of(std::size_t step, std::uint64_t random) const;
  Future draw(std::uint64_t number, std::uint64_t operations, bool stretched) const;
  bool differ() const;
  std::vector<std::size_t> pool_of(std::uint64_t number) const;
  std::size_t next_step(const std::vector<std::size_t>& pool, std::size_t previous,
                        std::uint64_t random) const;

  Steps steps_;
  std::vector<Step> parts_;
  std::map<std::uint32_t, std::vector<std::size_t>> alike_;  ///< steady steps, by their kind
  std::optional<Lengths> lengths_;
  std::uint32_t lengthened_kind_ = 0;
  bool varies_ = false;
  Workload frame_;  ///< what futures share: streams, pools, what is known of the recording
};

}  // namespace ebb::replay
