// SPDX-License-Identifier: Apache-2.0
#include "plan/backward_pass.h"

#include <algorithm>

#include "base/check.h"

namespace ebb::plan {

BackwardPass::BackwardPass(const Tape& tape, StepMemory& memory, ForwardPass& forward)
    : tape_(tape),
      memory_(memory),
      forward_(forward),
      of_value_(tape.values.size(), kNone),
      expected_(tape.values.size(), 0) {
  for (const Node& node : tape.nodes)
    for (const Gradient& gradient : node.gradients)
      ++expected_[node.inputs[gradient.input]];
}

BackwardPass::BufferId BackwardPass::make(std::uint64_t bytes, Part part) {
  BufferId id = 0;
  if (unused_.empty()) {
    id = static_cast<BufferId>(buffers_.size());
    buffers_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  buffers_[id] = {memory_.take(bytes, part), 1};
  return id;
}

void BackwardPass::release(BufferId id) {
  EBB_CHECK(buffers_[id].holders > 0);
  if (--buffers_[id].holders > 0) return;
  memory_.give(buffers_[id].block);
  unused_.push_back(id);
}

BackwardPass::BufferId BackwardPass::fitted(BufferId buffer, const Gradient& gradient,
                                            const Value& input, Part part) {
  if (gradient.elements != input.elements) {
    const BufferId summed = make(input.elements * bytes_of(gradient.type), part);
    release(buffer);
    buffer = summed;
  }
  if (gradient.type != input.type) {
    const BufferId cast = make(input.bytes(), part);
    release(buffer);
    buffer = cast;
  }
  return buffer;
}

void BackwardPass::arrive(ValueId id, BufferId buffer, Part part, const Finish& finish) {
  BufferId& there = of_value_[id];
  if (there == kNone) {
    there = buffer;
  } else {
    // Added in place where nobody else sees the first one.
    if (buffers_[there].holders > 1) {
      const BufferId sum = make(tape_.values[id].bytes(), part);
      release(there);
      there = sum;
    }
    release(buffer);
  }
  const Value& value = tape_.values[id];
  const Storage& storage = tape_.storages[value.storage];
  if (--expected_[id] > 0 || !storage.persistent) return;
  // A weight's gradient is done: the optimizer's from now on.
  if (buffers_[there].holders > 1) {
    const BufferId own = make(value.bytes(), part);
    release(there);
    there = own;
  }
  finish(buffers_[there].block, value.bytes());
  unused_.push_back(there);
  buffers_[there].holders = 0;
  there = kNone;
}

void BackwardPass::run_node(const Node& node, const Finish& finish) {
  const auto has_gradient = [this](ValueId id) { return of_value_[id] != kNone; };
  const auto source = std::find_if(node.outputs.begin(), node.outputs.end(), has_gradient);
  if (source == node.outputs.end()) {
    forward_.release_saved(node);
    return;
  }
  memory_.doing(node.name);
  const Part part = node.part == Part::logits ? Part::logits : Part::temporaries;
  std::vector<StepMemory::Block> scratch;
  for (const std::uint64_t bytes : node.backward_scratch)
    scratch.push_back(memory_.take(bytes, part));
  std::vector<BufferId> made;
  for (const Gradient& gradient : node.gradients) {
    if (gradient.shares) {
      made.push_back(of_value_[*source]);
      ++buffers_[made.back()].holders;
    } else {
      made.push_back(make(gradient.elements * bytes_of(gradient.type), part));
      if (gradient.scratch > 0) memory_.give(memory_.take(gradient.scratch, part));
    }
  }
  for (const StepMemory::Block block : scratch)
    memory_.give(block);
  forward_.release_saved(node);
  for (const ValueId id : node.outputs) {
    if (!has_gradient(id)) continue;
    release(of_value_[id]);
    of_value_[id] = kNone;
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Gradient& gradient = node.gradients[i];
    const ValueId input = node.inputs[gradient.input];
    const BufferId own = fitted(made[i], gradient, tape_.values[input], part);
    arrive(input, own, part, finish);
  }
}

void BackwardPass::run(const Finish& finish) {
  of_value_[tape_.loss] = make(tape_.values[tape_.loss].bytes(), Part::logits);
  std::size_t segments = tape_.segments.size();
  bool recomputed = false;
  for (auto i = static_cast<std::uint32_t>(tape_.nodes.size()); i-- > 0;) {
    const Segment* segment = segments == 0 ? nullptr : &tape_.segments[segments - 1];
    const Node& node = tape_.nodes[i];
    const bool inside = segment != nullptr && i >= segment->begin && i < segment->end;
    if (inside && !recomputed && !node.saved.empty()) {
      forward_.recompute(*segment);
      recomputed = true;
    }
    run_node(node, finish);
    if (inside && i == segment->begin) {
      forward_.release_inputs(*segment);
      --segments;
      recomputed = false;
    }
  }
}

}  // namespace ebb::plan
