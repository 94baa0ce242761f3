// SPDX-License-Identifier: Apache-2.0
#include "plan/forward_pass.h"

#include <algorithm>

#include "base/check.h"

namespace ebb::plan {

ForwardPass::ForwardPass(const Tape& tape, StepMemory& memory)
    : tape_(tape), memory_(memory), live_(tape.storages.size()), last_uses_(tape.nodes.size()) {
  for (std::uint32_t i = 0; i < tape.storages.size(); ++i) {
    const Storage& storage = tape.storages[i];
    if (!storage.persistent && !storage.held)
      last_uses_[std::min<std::size_t>(storage.last_use, tape.nodes.size() - 1)].push_back(i);
  }
}

void ForwardPass::acquire(std::uint32_t storage) {
  if (tape_.storages[storage].persistent) return;
  EBB_CHECK(live_[storage].holders > 0);
  ++live_[storage].holders;
}

void ForwardPass::release(std::uint32_t storage) {
  if (tape_.storages[storage].persistent) return;
  Live& live = live_[storage];
  EBB_CHECK(live.holders > 0);
  if (--live.holders == 0) memory_.give(live.block);
}

void ForwardPass::run_node(const Node& node, bool saving) {
  memory_.doing(node.name);
  std::vector<StepMemory::Block> scratch;
  for (const std::uint64_t bytes : node.forward_scratch)
    scratch.push_back(memory_.take(bytes, Part::temporaries));
  for (const ValueId id : node.outputs) {
    const std::uint32_t storage = tape_.values[id].storage;
    Live& live = live_[storage];
    if (live.holders > 0) continue;  // a view
    live.block = memory_.take(tape_.storages[storage].bytes, tape_.storages[storage].part);
    live.holders = 1;
    if (tape_.storages[storage].held) held_.push_back(storage);
  }
  for (const StepMemory::Block block : scratch)
    memory_.give(block);
  if (saving) {
    for (const ValueId id : node.saved)
      acquire(tape_.values[id].storage);
  }
}

std::vector<std::uint32_t> ForwardPass::inputs_of(const Segment& segment) const {
  std::vector<std::uint32_t> used;
  std::vector<std::uint32_t> made;
  for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
    for (const ValueId id : tape_.nodes[i].inputs)
      used.push_back(tape_.values[id].storage);
    for (const ValueId id : tape_.nodes[i].outputs)
      made.push_back(tape_.values[id].storage);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::sort(made.begin(), made.end());
  std::erase_if(used, [&](std::uint32_t storage) {
    return tape_.storages[storage].persistent ||
           std::binary_search(made.begin(), made.end(), storage);
  });
  return used;
}

void ForwardPass::run(std::uint32_t begin, std::uint32_t end) {
  auto segment =
      std::lower_bound(tape_.segments.begin(), tape_.segments.end(), begin,
                       [](const Segment& of, std::uint32_t index) { return of.begin < index; });
  for (std::uint32_t i = begin; i < end; ++i) {
    if (segment != tape_.segments.end() && i == segment->begin) {
      for (const std::uint32_t storage : inputs_of(*segment))
        acquire(storage);
    }
    const bool inside = segment != tape_.segments.end() && i >= segment->begin;
    run_node(tape_.nodes[i], !inside);
    for (const std::uint32_t storage : last_uses_[i])
      release(storage);
    if (inside && i + 1 == segment->end) ++segment;
  }
}

void ForwardPass::finish() {
  const std::uint32_t loss = tape_.values[tape_.loss].storage;
  for (const std::uint32_t storage : held_)
    if (storage != loss) release(storage);
  held_.clear();
}

void ForwardPass::release_loss() {
  release(tape_.values[tape_.loss].storage);
}

void ForwardPass::recompute(const Segment& segment) {
  // PyTorch stops as soon as the last tensor that was kept is there again.
  std::uint32_t stop = segment.end;
  while (stop > segment.begin && tape_.nodes[stop - 1].saved.empty())
    --stop;
  std::vector<std::uint32_t> made;
  for (std::uint32_t i = segment.begin; i < stop; ++i) {
    for (const ValueId id : tape_.nodes[i].outputs) {
      const std::uint32_t storage = tape_.values[id].storage;
      if (live_[storage].holders == 0) made.push_back(storage);
    }
    run_node(tape_.nodes[i], true);
    for (const std::uint32_t storage : last_uses_[i]) {
      const auto own = std::find(made.begin(), made.end(), storage);
      if (own == made.end()) continue;
      made.erase(own);
      release(storage);
    }
  }
  for (const std::uint32_t storage : made)
    release(storage);
  held_.clear();
}

void ForwardPass::release_inputs(const Segment& segment) {
  for (const std::uint32_t storage : inputs_of(segment))
    release(storage);
}

void ForwardPass::release_saved(const Node& node) {
  for (const ValueId id : node.saved)
    release(tape_.values[id].storage);
}

}  // namespace ebb::plan
