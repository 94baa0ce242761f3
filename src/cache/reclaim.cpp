// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/log.h"
#include "cache/core.h"

namespace ebb::cache {

void Core::collect_garbage() {
  const auto threshold = static_cast<std::uint64_t>(settings_.garbage_collection_threshold *
                                                    static_cast<double>(limit_));
  if (reserved_ <= threshold) return;
  const std::uint64_t target = reserved_ - threshold;
  Pool& pool = default_.large;
  const auto age_of = [&](const Block* block) {
    return static_cast<double>(pool.searches - segments_[block->segment].freed_at);
  };
  double total_age = 0;
  std::size_t count = 0;
  for (const Lane* lane : pool.lanes) {
    for (const Block* block = lane->free.first(); block != nullptr;
         block = lane->free.after(block)) {
      if (block->is_split()) continue;
      total_age += age_of(block);
      ++count;
    }
  }
  std::uint64_t reclaimed = 0;
  bool progress = true;
  while (reclaimed < target && progress && count > 0) {
    const double threshold_age = total_age / static_cast<double>(count);
    progress = false;
    for (Lane* lane : pool.lanes) {
      for (Block* block = lane->free.first(); block != nullptr;) {
        Block* following = lane->free.after(block);
        if (!block->is_split() && !block->expandable && age_of(block) >= threshold_age) {
          reclaimed += block->size;
          total_age -= age_of(block);
          --count;
          progress = true;
          release_segment(block);
        }
        block = following;
      }
    }
  }
}

bool Core::release_available(const Request& request) {
  Lane* lane = request.pool->find_lane(request.stream);
  if (lane == nullptr) return false;
  const std::uint64_t wanted = std::min(std::max(request.rounded, max_split_), kAbsurdSize - 1);
  // Only after max_split_size was lowered can such a block be a piece of a segment.
  const auto releasable = [](const Block* block) {
    return !block->expandable && !block->is_split();
  };
  Block* enough = lane->free.first_at_least(wanted);
  if (enough != nullptr && releasable(enough)) {
    release_segment(enough);
    return true;
  }
  std::uint64_t released = 0;
  for (Block* block = lane->free.last_below(wanted);
       block != nullptr && released < wanted && block->size >= max_split_;) {
    Block* smaller = lane->free.before(block);
    if (releasable(block)) {
      released += block->size;
      release_segment(block);
    }
    block = smaller;
  }
  return released >= wanted;
}

void Core::release_segment(Block* block) {
  Lane& lane = lane_of(block);
  const Segment& segment = segments_[block->segment];
  const bool small = lane.pool->small;
  PrivatePool* owner = lane.pool->owner;
  if (history_.is_on()) {
    history_.note(Action::segment_free, block->address, block->size, lane.stream,
                  id_of(*lane.pool));
  }
  if (owner != nullptr && owner->options.source != nullptr) {
    owner->options.source->release(segment.address, segment.size, device_, lane.stream);
  } else if (const auto given = driver_.release(device_, segment.address, segment.size); !given) {
    base::log(base::LogLevel::error, "giving a segment back: %s", given.error().message.c_str());
  }
  ++stats_.num_device_free;
  reserved_ -= block->size;
  stats_.segment.decrease(small, 1);
  count_reserved(*lane.pool, -static_cast<std::int64_t>(block->size));
  if (block->size >= max_split_) stats_.oversize_segments.decrease(1);
  if (owner != nullptr) --owner->segments;
  lane.free.erase(block);
  segments_.remove(block->segment);
  slab_.release(block);
}

void Core::sweep(Pool& pool) {
  std::vector<Block*> expandable;
  for (Lane* lane : pool.lanes) {
    for (Block* block = lane->free.first(); block != nullptr;) {
      Block* following = lane->free.after(block);
      if (block->expandable) {
        expandable.push_back(block);
      } else if (!block->is_split()) {
        release_segment(block);
      }
      block = following;
    }
  }
  for (Block* block : expandable) {
    unmap_inside(block);
    if (!block->mapped && !block->is_split()) destroy_expandable(block);
  }
}

void Core::release_all(PoolId id, bool capturing) {
  if (id.is_default() && !capturing) {
    ++stats_.num_sync_all_streams;
    waits_.wait();
    sweep(default_.large);
    sweep(default_.small);
  }
  const std::vector<PrivatePool*> freeable = private_pools_.freeable();
  for (PrivatePool* pool : freeable) {
    if (!id.is_default()) {
      if (pool->id != id) continue;
      ++stats_.num_sync_all_streams;
      waits_.wait(pool);
    }
    sweep(pool->pools.small);
    sweep(pool->pools.large);
    discard_if_empty(pool);
  }
}

void Core::discard_if_empty(PrivatePool* pool) {
  for (Pool* half : {&pool->pools.small, &pool->pools.large}) {
    for (Lane* lane : half->lanes) {
      const std::vector<Block*> ranges = lane->unmapped;
      for (Block* block : ranges) {
        // A range that was reserved and then got no memory.
        if (!block->is_split()) destroy_expandable(block);
      }
    }
  }
  if (pool->segments != 0) return;
  for (Pool* half : {&pool->pools.small, &pool->pools.large}) {
    for (Lane* lane : half->lanes) {
      unused_lanes_.push_back(lane->index);
      lanes_[lane->index].reset();
    }
  }
  private_pools_.discard(pool);
}

base::Status Core::empty_pool(PoolId id) {
  if (id.is_default()) return empty_cache();
  release_all(id, in_capture(0));
  return {};
}

base::Status Core::empty_cache() {
  PoolId id;
  const bool capturing = in_capture(0);
  if (profile_.empty_cache_follows_scope() && private_pools_.has_scopes()) {
    if (const PrivatePool* owner = route(0).small.owner) id = owner->id;
  }
  if (id.is_default() && capturing && !profile_.skips_release_in_capture()) {
    return base::error(base::Code::unavailable,
                       "empty_cache during a capture or in a MemPool: PyTorch 2.%d cannot",
                       profile_.minor);
  }
  release_all(id, capturing);
  return {};
}

}  // namespace ebb::cache
