// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "cache/core.h"

namespace ebb::cache {

std::uint64_t Core::largest_free() const {
  std::uint64_t largest = 0;
  slab_.for_each([&](const Block* block) {
    if (block->is_free()) largest = std::max(largest, block->size);
  });
  return largest;
}

void Core::check_invariants() const {
  std::uint64_t mapped_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::size_t allocated_blocks = 0;
  std::size_t free_blocks = 0;
  slab_.for_each([&](Block* block) {
    EBB_CHECK(block->segment < segments_.size());
    const Segment& segment = segments_[block->segment];
    const Lane& lane = lane_of(block);
    EBB_CHECK(segment.lane == &lane);
    EBB_CHECK(block->address >= segment.address);
    EBB_CHECK(block->address + block->size <= segment.address + segment.size);
    EBB_CHECK(block->expandable == segment.expandable());
    EBB_CHECK(block->mapped || (segment.expandable() && block->is_available()));
    EBB_CHECK((block->prev == nullptr) == (block->address == segment.address));
    EBB_CHECK((block->next == nullptr) ==
              (block->address + block->size == segment.address + segment.size));
    EBB_CHECK(block->prev_free == (block->prev != nullptr && block->prev->is_free()));
    EBB_CHECK(block->next_free == (block->next != nullptr && block->next->is_free()));
    if (const Block* next = block->next) {
      EBB_CHECK(next->prev == block);
      EBB_CHECK(next->address == block->address + block->size);
      // Unmapping leaves a head and a tail beside used neighbours, never two free ones together.
      EBB_CHECK(!(block->is_available() && next->is_available() && block->mapped == next->mapped));
    }
    if (block->mapped) mapped_bytes += block->size;
    if (!block->is_available()) active_bytes += block->size;
    if (block->allocated) {
      allocated_bytes += block->size;
      ++allocated_blocks;
      EBB_CHECK(handed_out_.find(block->address) == block);
      EBB_CHECK(block->requested <= block->size);
    } else if (!block->mapped) {
      EBB_CHECK(std::count(lane.unmapped.begin(), lane.unmapped.end(), block) == 1);
    } else if (block->is_available()) {
      ++free_blocks;
    }
  });
  std::size_t listed = 0;
  for (const auto& lane : lanes_) {
    if (lane == nullptr) continue;
    const Block* last = nullptr;
    for (const Block* block = lane->free.first(); block != nullptr;
         block = lane->free.after(block)) {
      EBB_CHECK(block->is_free() && lanes_[block->lane] == lane);
      EBB_CHECK(last == nullptr || last->size <= block->size);
      EBB_CHECK(lane->free.before(block) == last);
      last = block;
      ++listed;
    }
    EBB_CHECK(
        std::is_sorted(lane->unmapped.begin(), lane->unmapped.end(),
                       [](const Block* a, const Block* b) { return a->address < b->address; }));
  }
  EBB_CHECK(listed == free_blocks);
  EBB_CHECK(handed_out_.size() == allocated_blocks);
  EBB_CHECK(mapped_bytes == reserved_);
  const auto counted = [&](Metric metric) {
    return static_cast<std::uint64_t>(stats_.current(metric));
  };
  EBB_CHECK(counted(Metric::reserved_bytes) == mapped_bytes);
  EBB_CHECK(counted(Metric::active_bytes) == active_bytes);
  EBB_CHECK(counted(Metric::allocated_bytes) == allocated_bytes);
  EBB_CHECK(counted(Metric::allocation) == allocated_blocks);
}

}  // namespace ebb::cache
