// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plan/optimizer.h"
#include "plan/step_memory.h"
#include "plan/tape.h"

namespace ebb::plan {

enum class Phase : std::uint8_t { forward, loss, backward, optimizer };
inline constexpr std::size_t kPhases = 4;

/// The word in tables and JSON: "forward", "loss", "backward", "optimizer".
const char* name_of(Phase phase);

/// How model state is split over the devices that train together; 1 device splits nothing.
struct StateSharding {
  std::uint64_t devices = 1;
  int stage = 0;  ///< ZeRO's: 1 optimizer state, 2 also gradients, 3 also weights

  /// One device's share of what is split from `from_stage` on.
  std::uint64_t share(std::uint64_t bytes, int from_stage) const {
    return stage < from_stage ? bytes : (bytes + devices - 1) / devices;
  }
};

struct RehearsalOptions {
  Optimizer optimizer = Optimizer::adamw;
  bool master_weights = false;  ///< the optimizer works on a copy of the weights in f32
  StateSharding sharding;
  bool accumulates = false;  ///< gradients of several batches are summed before the optimizer steps
  int steps = 3;             ///< the last one is reported
};

struct PhaseReport {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  MemoryState peak;
  std::string peak_doing;  ///< the operator that ran then
};

struct StepReport {
  std::uint64_t weights_blocks = 0;  ///< what the weights take as blocks, right after loading
  MemoryState before;                ///< the step: weights, optimizer state, inputs
  MemoryState after_forward;         ///< what the backward pass starts with
  std::array<PhaseReport, kPhases> phases;
  std::uint64_t after_step = 0;
  std::uint64_t peak_reserved = 0;

  const PhaseReport& of(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  Phase peak_phase() const;
  const PhaseReport& peak() const { return of(peak_phase()); }
};

/// Runs training steps of a tape with blocks instead of tensors: every allocation and free in the
/// order in which PyTorch makes them. Fails with Code::bad_input when a tensor is larger than any
/// device.
base::Result<StepReport> rehearse(const Tape& tape, const RehearsalOptions& options);
/// The same over memory that nothing was taken from yet, for a look at what happened to it.
base::Result<StepReport> rehearse(const Tape& tape, const RehearsalOptions& options,
                                  StepMemory& memory);

}  // namespace ebb::plan
