// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plan/step_memory.h"
#include "plan/tape.h"

namespace ebb::plan {

/// The forward pass of a tape: which results live, and until when. A result lives while a later
/// operator of the pass, a variable of the caller or the backward pass holds it.
class ForwardPass {
 public:
  ForwardPass(const Tape& tape, StepMemory& memory);

  /// Runs nodes [begin, end). Requires: none of them cuts a segment in two.
  void run(std::uint32_t begin, std::uint32_t end);
  /// Lets go of what was held until the end of the pass, the loss excepted.
  void finish();
  void release_loss();

  // For the backward pass.
  /// Computes a segment's results again, up to the last one that is kept.
  void recompute(const Segment& segment);
  /// Lets go of what a segment was recomputed from.
  void release_inputs(const Segment& segment);
  /// Lets go of what the node kept.
  void release_saved(const Node& node);

 private:
  void run_node(const Node& node, bool saving);
  void acquire(std::uint32_t storage);
  void release(std::uint32_t storage);
  /// What nodes of the segment use and none of them makes.
  std::vector<std::uint32_t> inputs_of(const Segment& segment) const;

  struct Live {
    StepMemory::Block block = 0;
    std::uint32_t holders = 0;
  };

  const Tape& tape_;
  StepMemory& memory_;
  std::vector<Live> live_;                             ///< by storage
  std::vector<std::vector<std::uint32_t>> last_uses_;  ///< by node: storages that it uses last
  std::vector<std::uint32_t> held_;
};

}  // namespace ebb::plan
