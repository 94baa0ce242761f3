// SPDX-License-Identifier: Apache-2.0
#include "plan/step_memory.h"

#include <algorithm>

#include "base/check.h"

namespace ebb::plan {

StepMemory::StepMemory()
    : driver_(device::SimOptions{.name = "planned device",
                                 .total_memory = std::uint64_t{1} << 56,
                                 .addresses = device::AddressModel::like_cuda()}) {}

base::Result<std::unique_ptr<StepMemory>> StepMemory::create() {
  std::unique_ptr<StepMemory> memory(new StepMemory());
  auto core = cache::Core::create(memory->driver_, 0, cache::CoreOptions{});
  if (!core) return core.error();
  memory->core_ = std::move(*core);
  return memory;
}

StepMemory::Block StepMemory::take(std::uint64_t bytes, Part part) {
  Held held{0, bytes, 0, part};
  if (bytes > 0) {
    held.address = core_->allocate(bytes, 0);
    failed_ = failed_ || held.address == 0;
    held.size = held.address == 0 ? 0 : core_->size_of(held.address);
    held.requested = std::min(bytes, held.size);
  }
  allocated_ += held.size;
  parts_[part] += held.requested;
  parts_[Part::slack] += held.size - held.requested;
  Block block = 0;
  if (unused_.empty()) {
    block = static_cast<Block>(held_.size());
    held_.push_back(held);
  } else {
    block = unused_.back();
    unused_.pop_back();
    held_[block] = held;
  }
  peak_reserved_ = std::max(peak_reserved_, core_->reserved());
  if (allocated_ > peak_.allocated) {
    peak_ = now();
    peak_doing_ = doing_;
  }
  return block;
}

void StepMemory::give(Block block) {
  Held& held = held_[block];
  if (held.address != 0) EBB_CHECK(core_->free(held.address));
  allocated_ -= held.size;
  parts_[held.part] -= held.requested;
  parts_[Part::slack] -= held.size - held.requested;
  held = Held{};
  unused_.push_back(block);
}

void StepMemory::relabel(Block block, Part part) {
  Held& held = held_[block];
  parts_[held.part] -= held.requested;
  parts_[part] += held.requested;
  held.part = part;
}

MemoryState StepMemory::now() const {
  return {allocated_, core_->reserved(), parts_};
}

}  // namespace ebb::plan
