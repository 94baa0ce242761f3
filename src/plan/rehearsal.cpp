// SPDX-License-Identifier: Apache-2.0
#include "plan/rehearsal.h"

#include <algorithm>

#include "base/check.h"
#include "plan/backward_pass.h"
#include "plan/forward_pass.h"

namespace ebb::plan {

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::loss:
      return "loss";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  return "unknown";
}

Phase StepReport::peak_phase() const {
  const auto most = std::max_element(
      phases.begin(), phases.end(),
      [](const auto& a, const auto& b) { return a.peak.allocated < b.peak.allocated; });
  return static_cast<Phase>(most - phases.begin());
}

namespace {

class Rehearsal {
 public:
  Rehearsal(const Tape& tape, const RehearsalOptions& options, StepMemory& memory)
      : tape_(tape), options_(options), memory_(memory), forward_(tape, memory) {}

  StepReport run() {
    StepReport report;
    for (const Parameter& parameter : tape_.parameters)
      memory_.take(options_.sharding.share(tape_.values[parameter.value].bytes(), 3),
                   Part::weights);
    for (const ValueId id : tape_.buffers)
      memory_.take(tape_.values[id].bytes(), Part::weights);
    report.weights_blocks = memory_.now().allocated;
    for (const ValueId id : tape_.inputs)
      memory_.take(tape_.values[id].bytes(), Part::inputs);
    for (int i = 0; i < options_.steps; ++i)
      step(report);
    report.peak_reserved = memory_.peak_reserved();
    return report;
  }

 private:
  void begin(StepReport& report, Phase phase) {
    memory_.begin_phase();
    report.phases[static_cast<std::size_t>(phase)].begin = memory_.now().allocated;
  }

  void end(StepReport& report, Phase phase) {
    PhaseReport& of = report.phases[static_cast<std::size_t>(phase)];
    of.end = memory_.now().allocated;
    of.peak = memory_.peak();
    of.peak_doing = memory_.peak_doing();
  }

  void step(StepReport& report) {
    const auto nodes = static_cast<std::uint32_t>(tape_.nodes.size());
    report.before = memory_.now();
    begin(report, Phase::forward);
    std::optional<StepMemory::Block> gathered;
    if (options_.sharding.stage >= 3 && options_.sharding.devices > 1)
      gathered = memory_.take(2 * tape_.largest_unit_bytes, Part::weights);
    forward_.run(0, tape_.loss_begin);
    end(report, Phase::forward);
    begin(report, Phase::loss);
    forward_.run(tape_.loss_begin, nodes);
    forward_.finish();
    end(report, Phase::loss);
    report.after_forward = memory_.now();
    begin(report, Phase::backward);
    const bool adds = !gradients_.empty();
    BackwardPass backward(tape_, memory_, forward_);
    backward.run([this, adds](StepMemory::Block full, std::uint64_t bytes) {
      if (adds) {
        memory_.give(full);
      } else {
        keep_gradient(full, bytes);
      }
    });
    if (gathered) memory_.give(*gathered);
    end(report, Phase::backward);
    begin(report, Phase::optimizer);
    memory_.doing("optimizer step");
    optimizer_step();
    end(report, Phase::optimizer);
    report.after_step = memory_.now().allocated;
    forward_.release_loss();
    if (!options_.accumulates) give_all(gradients_);
  }

  void keep_gradient(StepMemory::Block full, std::uint64_t bytes) {
    if (options_.sharding.stage < 2 || options_.sharding.devices == 1) {
      memory_.relabel(full, Part::gradients);
      gradients_.push_back(full);
      return;
    }
    gradients_.push_back(memory_.take(options_.sharding.share(bytes, 2), Part::gradients));
    memory_.give(full);
  }

  void optimizer_step() {
    std::vector<StepMemory::Block> temporary;
    for (const Parameter& parameter : tape_.parameters) {
      const Value& weight = tape_.values[parameter.value];
      if (!weight.needs_grad) continue;
      const OptimizerTensors tensors =
          tensors_of(options_.optimizer, parameter, weight, options_.master_weights);
      if (!has_state_) {
        for (const std::uint64_t bytes : tensors.state)
          memory_.take(options_.sharding.share(bytes, 1), Part::optimizer);
      }
    }
    has_state_ = true;
    for (const Parameter& parameter : tape_.parameters) {
      const Value& weight = tape_.values[parameter.value];
      if (!weight.needs_grad) continue;
      const OptimizerTensors tensors =
          tensors_of(options_.optimizer, parameter, weight, options_.master_weights);
      for (const std::uint64_t bytes : tensors.step)
        temporary.push_back(memory_.take(options_.sharding.share(bytes, 1), Part::temporaries));
      if (tensors.step_one_by_one) give_all(temporary);
    }
    give_all(temporary);
  }

  void give_all(std::vector<StepMemory::Block>& blocks) {
    for (const StepMemory::Block block : blocks)
      memory_.give(block);
    blocks.clear();
  }

  const Tape& tape_;
  const RehearsalOptions& options_;
  StepMemory& memory_;
  ForwardPass forward_;
  std::vector<StepMemory::Block> gradients_;
  bool has_state_ = false;
};

}  // namespace

base::Result<StepReport> rehearse(const Tape& tape, const RehearsalOptions& options) {
  auto memory = StepMemory::create();
  if (!memory) return memory.error();
  return rehearse(tape, options, **memory);
}

base::Result<StepReport> rehearse(const Tape& tape, const RehearsalOptions& options,
                                  StepMemory& memory) {
  EBB_CHECK(options.steps > 0 && options.sharding.devices > 0);
  const StepReport report = Rehearsal(tape, options, memory).run();
  if (memory.failed())
    return base::error(base::Code::bad_input, "a tensor of this plan is larger than any device");
  return report;
}

}  // namespace ebb::plan
