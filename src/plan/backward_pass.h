// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "plan/forward_pass.h"

namespace ebb::plan {

/// The backward pass of a tape: its nodes in reverse, each turning the gradients of its results
/// into gradients of its inputs. Runs once.
class BackwardPass {
 public:
  /// Takes over the block of a weight's finished gradient of so many bytes.
  using Finish = std::function<void(StepMemory::Block full, std::uint64_t bytes)>;

  BackwardPass(const Tape& tape, StepMemory& memory, ForwardPass& forward);

  void run(const Finish& finish);

 private:
  /// A gradient's memory, which several values may share.
  struct Buffer {
    StepMemory::Block block = 0;
    std::uint32_t holders = 0;
  };
  using BufferId = std::uint32_t;
  static constexpr BufferId kNone = 0xFFFFFFFF;

  BufferId make(std::uint64_t bytes, Part part);
  void release(BufferId buffer);
  void run_node(const Node& node, const Finish& finish);
  BufferId fitted(BufferId buffer, const Gradient& gradient, const Value& input, Part part);
  void arrive(ValueId id, BufferId buffer, Part part, const Finish& finish);

  const Tape& tape_;
  StepMemory& memory_;
  ForwardPass& forward_;
  std::vector<BufferId> of_value_;
  std::vector<std::uint32_t> expected_;  ///< by value: gradients still to come; weights only
  std::vector<Buffer> buffers_;
  std::vector<BufferId> unused_;
};

}  // namespace ebb::plan
