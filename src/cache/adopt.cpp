// SPDX-License-Identifier: Apache-2.0
// Starting in the middle: memory that a snapshot shows becomes this allocator's own.
#include <algorithm>

#include "cache/core.h"
#include "cache/snapshot.h"

namespace ebb::cache {
namespace {

/// One piece after another, from the lowest address on.
class Chain {
 public:
  explicit Chain(BlockSlab& slab) : slab_(slab) {}

  Block* add(Address address, std::uint64_t size, const Lane& lane, std::uint32_t segment) {
    Block* block = slab_.create();
    block->address = address;
    block->size = size;
    block->lane = lane.index & 0xFFFFFFU;
    block->segment = segment;
    block->prev = last_;
    if (last_ != nullptr) last_->next = block;
    last_ = block;
    return block;
  }

 private:
  BlockSlab& slab_;
  Block* last_ = nullptr;
};

/// How many of the segments from `at` on are runs of one expandable segment.
std::size_t runs_from(const std::vector<SnapshotSegment>& segments, std::size_t at,
                      std::uint64_t range) {
  const SnapshotSegment& first = segments[at];
  if (!first.expandable) return 1;
  std::size_t end = at + 1;
  while (end < segments.size() && segments[end].expandable &&
         segments[end].stream == first.stream && segments[end].pool == first.pool &&
         segments[end].small == first.small &&
         segments[end].address + segments[end].total_size <= first.address + range) {
    ++end;
  }
  return end - at;
}

}  // namespace

base::Status Core::adopt(const std::vector<SnapshotSegment>& segments,
                         const std::function<void(Address)>& expect) {
  for (std::size_t at = 0; at < segments.size();) {
    const SnapshotSegment& first = segments[at];
    PrivatePool* owner = first.pool.is_default() ? nullptr : private_pools_.find(first.pool);
    if (owner == nullptr && !first.pool.is_default()) {
      return base::error(base::Code::bad_input, "segment %zu is of an unknown pool", at);
    }
    Pool& pool = (owner != nullptr ? owner->pools : default_).half(first.small);
    const std::uint64_t page = first.small ? kSmallSegment : settings_.large_segment_size;
    const std::uint64_t range = first.expandable ? expandable_range(page) : first.total_size;
    expect(first.address);
    auto address = first.expandable ? driver_.reserve(device_, range)
                                    : driver_.allocate(device_, first.total_size);
    if (!address) return address.error();
    if (*address != first.address) {
      return base::error(base::Code::bad_input,
                         "the driver has no segment to give at the snapshot's address");
    }
    Lane& lane = ensure_lane(pool, first.stream);
    Segment segment;
    segment.address = *address;
    segment.size = range;
    segment.lane = &lane;
    segment.page = first.expandable ? page : 0;
    segment.counter = counters_->segments.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t index = segments_.add(segment);
    if (owner != nullptr) ++owner->segments;
    if (first.expandable) ++expandable_segments_;

    Chain chain(slab_);
    Address end = first.address;
    const auto add_gap = [&](Address until) {
      if (until <= end) return;
      Block* gap = chain.add(end, until - end, lane, index);
      gap->expandable = true;
      gap->mapped = false;
      lane.unmapped.push_back(gap);
      end = until;
    };
    const std::size_t runs = runs_from(segments, at, range);
    std::vector<Block*> taken;
    for (const std::size_t last = at + runs; at < last; ++at) {
      const SnapshotSegment& run = segments[at];
      add_gap(run.address);
      for (const SnapshotBlock& piece : run.blocks) {
        Block* block = chain.add(piece.address, piece.size, lane, index);
        block->expandable = run.expandable;
        block->requested = piece.requested_size;
        block->allocated = piece.state != BlockState::inactive;
        taken.push_back(block);
      }
      end = run.address + run.total_size;
      if (run.expandable) {
        if (auto mapped = driver_.map(device_, run.address, page, run.total_size / page); !mapped) {
          return mapped.error();
        }
      } else {
        stats_.segment.increase(first.small, 1);
        if (run.total_size >= max_split_) stats_.oversize_segments.increase(1);
      }
      reserved_ += run.total_size;
      count_reserved(pool, static_cast<std::int64_t>(run.total_size));
    }
    if (first.expandable) add_gap(first.address + range);
    for (Block* block : taken) {
      take_over(block, lane);
    }
  }
  return {};
}

void Core::take_over(Block* block, Lane& lane) {
  const bool small = lane.pool->small;
  const auto size = static_cast<std::int64_t>(block->size);
  if (block->allocated) {
    handed_out_.insert(block);
    stats_.on_allocate(small, size, static_cast<std::int64_t>(block->requested));
    if (block->size >= max_split_) stats_.oversize_allocations.increase(1);
    return;
  }
  block->tell_neighbours(true);
  lane.free.insert(block);
  if (block->is_split() && !block->expandable) {
    stats_.inactive_split.increase(small, 1);
    stats_.inactive_split_bytes.increase(small, size);
  }
}

}  // namespace ebb::cache
