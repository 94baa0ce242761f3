// SPDX-License-Identifier: Apache-2.0
#include "cache/core.h"

#include "base/check.h"
#include "base/log.h"

namespace ebb::cache {

base::Result<std::unique_ptr<Core>> Core::create(device::Driver& driver, int device,
                                                 const CoreOptions& options) {
  auto info = driver.info(device);
  if (!info) return info.error();
  std::unique_ptr<Core> core(new Core(driver, device, options, std::move(*info)));
  if (auto limited = core->set_memory_fraction(options.settings.memory_fraction); !limited) {
    return limited.error();
  }
  // Up to 2.9 a limit exists only once somebody asks for one.
  if (core->profile_.limits_full_fraction()) core->limit_ = kUnlimited;
  core->apply(options.settings);
  return core;
}

Core::Core(device::Driver& driver, int device, const CoreOptions& options, device::DeviceInfo info)
    : driver_(driver),
      device_(device),
      info_(std::move(info)),
      profile_(options.profile),
      counters_(options.counters != nullptr ? options.counters : &own_counters_),
      completions_(options.completions),
      topology_(options.topology),
      lock_break_(options.lock_break),
      unix_time_us_(options.unix_time_us) {
  const std::uint64_t max_split = options.settings.max_split_size;
  stats_.max_split_size = max_split == kUnlimited ? -1 : static_cast<std::int64_t>(max_split);
  if (profile_.tie_break == TieBreak::creation) slab_.number_blocks();
  set_up_pool(default_, nullptr);
}

Core::~Core() {
  for (SideQueue& queue : queues_) {
    for (const PendingEvent& pending : queue.events) {
      static_cast<void>(driver_.destroy_event(device_, pending.event));
    }
  }
  for_each_segment([this](Block* first, const Segment& segment) {
    if (!segment.expandable()) {
      SegmentSource* source =
          segment.lane->pool->owner ? segment.lane->pool->owner->options.source : nullptr;
      if (source != nullptr) {
        source->release(segment.address, segment.size, device_, segment.lane->stream);
      } else {
        static_cast<void>(driver_.release(device_, segment.address, segment.size));
      }
      return;
    }
    for (const Block* block = first; block != nullptr;) {
      if (!block->mapped) {
        block = block->next;
        continue;
      }
      const Address start = block->address;
      std::uint64_t mapped = 0;
      for (; block != nullptr && block->mapped; block = block->next) {
        mapped += block->size;
      }
      static_cast<void>(driver_.unmap(device_, start, segment.page, mapped / segment.page));
    }
    static_cast<void>(driver_.unreserve(device_, segment.address, segment.size));
  });
}

Address Core::allocate(std::uint64_t bytes, StreamId stream, Failure* failure) {
  if (bytes - 1 >= kAbsurdSize - 1) [[unlikely]] {
    if (bytes != 0 && failure != nullptr) {
      *failure = Failure{};
      failure->kind = FailureKind::too_large;
      failure->device = device_;
      failure->stream = stream;
      failure->requested = bytes;
    }
    return 0;
  }
  if (waiting_) [[unlikely]]
    on_wait_possible(stream);
  const std::uint64_t rounded = round_(bytes);
  Pool& pool = (scopes_.empty() ? default_ : route(stream)).half(rounded <= kSmallLimit);
  Block* block = search(pool, pool.find_lane(stream), rounded);
  if (block == nullptr) [[unlikely]] {
    block =
        miss({bytes, rounded, segment_size(rounded, settings_.large_segment_size), stream, &pool},
             failure);
    if (block == nullptr) return 0;
  }
  return hand_out(block, bytes, rounded);
}

Block* Core::search(Pool& pool, Lane* lane, std::uint64_t rounded) {
  if (collecting_) [[unlikely]]
    ++pool.searches;
  if (lane == nullptr) [[unlikely]]
    return nullptr;
  Block* block = lane->free.first_at_least(rounded);
  if (block == nullptr) [[unlikely]]
    return nullptr;
  if (expandable_segments_ != 0 && block->expandable) {
    block = prefer_least_extension(*lane, block, pool.expandable);
    if (block == nullptr) return nullptr;
  }
  const bool refused = rounded < max_split_ ? block->size >= max_split_
                                            : block->size >= rounded + non_split_rounding_;
  if (refused) [[unlikely]]
    return nullptr;
  lane->free.erase(block);
  return block;
}

Block* Core::split_front(Block* block, Lane& lane, std::uint64_t size) {
  Block* front = slab_.create();
  front->address = block->address;
  front->size = size;
  front->segment = block->segment;
  front->lane = block->lane;
  front->expandable = block->expandable;
  front->prev = block->prev;
  front->next = block;
  if (block->prev != nullptr) block->prev->next = front;
  block->prev = front;
  block->address += size;
  block->size -= size;
  lane.free.insert(block);
  return front;
}

Address Core::hand_out(Block* block, std::uint64_t bytes, std::uint64_t rounded) {
  Lane& lane = lane_of(block);
  const Pool& pool = *lane.pool;
  const bool small = pool.small;
  const bool was_split = block->is_split();
  const std::uint64_t remainder = block->size - rounded;
  if (remainder >= pool.least_remainder && rounded < pool.split_below) {
    block = split_front(block, lane, rounded);
    if (!block->expandable) {
      if (was_split) {
        stats_[Metric::inactive_split_bytes].decrease(small, static_cast<std::int64_t>(rounded));
      } else {
        stats_[Metric::inactive_split].increase(small, 1);
        stats_[Metric::inactive_split_bytes].increase(small, static_cast<std::int64_t>(remainder));
      }
    }
  } else if (was_split && !block->expandable) {
    stats_[Metric::inactive_split].decrease(small, 1);
    stats_[Metric::inactive_split_bytes].decrease(small, static_cast<std::int64_t>(block->size));
  }
  block->allocated = true;
  block->requested = bytes;
  handed_out_.insert(block);

  const auto size = static_cast<std::int64_t>(block->size);
  stats_[Metric::allocation].increase(small, 1);
  stats_[Metric::allocated_bytes].increase(small, size);
  stats_[Metric::active].increase(small, 1);
  stats_[Metric::active_bytes].increase(small, size);
  stats_[Metric::requested_bytes].increase(small, static_cast<std::int64_t>(bytes));
  if (block->size >= max_split_) [[unlikely]]
    stats_.oversize_allocations.increase(1);
  if (tracing_) [[unlikely]]
    note_block(Action::alloc, block);
  return block->address;
}

bool Core::free(Address address) {
  Block* block = handed_out_.take(address);
  if (block == nullptr) [[unlikely]]
    return false;
  const bool small = lane_of(block).pool->small;
  block->allocated = false;
  stats_[Metric::allocation].decrease(small, 1);
  stats_[Metric::allocated_bytes].decrease(small, static_cast<std::int64_t>(block->size));
  if (block->size >= max_split_) [[unlikely]]
    stats_.oversize_allocations.decrease(1);
  if (tracing_) [[unlikely]]
    note_block(Action::free_requested, block);
  if (block->shared) [[unlikely]] {
    release_shared(block);
  } else {
    complete_free(block);
  }
  return true;
}

bool Core::absorb(Block* into, Block* neighbour) {
  if (neighbour == nullptr || !neighbour->is_available() || neighbour->mapped != into->mapped) {
    return false;
  }
  if (neighbour == into->prev) {
    into->address = neighbour->address;
    into->prev = neighbour->prev;
    if (into->prev != nullptr) into->prev->next = into;
  } else {
    into->next = neighbour->next;
    if (into->next != nullptr) into->next->prev = into;
  }
  into->size += neighbour->size;
  slab_.release(neighbour);
  return true;
}

void Core::complete_free(Block* block) {
  if (tracing_) [[unlikely]]
    note_block(Action::free_completed, block);
  Lane& lane = lane_of(block);
  const bool small = lane.pool->small;
  const auto size = static_cast<std::int64_t>(block->size);
  std::int64_t split_blocks = 0;
  for (Block* neighbour : {block->prev, block->next}) {
    if (neighbour == nullptr || !neighbour->is_available() || !neighbour->mapped) continue;
    lane.free.erase(neighbour);
    absorb(block, neighbour);
    --split_blocks;
  }
  lane.free.insert(block);
  stats_[Metric::active].decrease(small, 1);
  stats_[Metric::active_bytes].decrease(small, size);
  stats_[Metric::requested_bytes].decrease(small, static_cast<std::int64_t>(block->requested));
  std::int64_t split_bytes = split_blocks == 0 ? 0 : size - static_cast<std::int64_t>(block->size);
  if (block->is_split()) {
    ++split_blocks;
    split_bytes += static_cast<std::int64_t>(block->size);
  } else {
    segments_[block->segment].freed_at = lane.pool->searches;
  }
  if (!block->expandable) {
    stats_[Metric::inactive_split].change(small, split_blocks);
    stats_[Metric::inactive_split_bytes].change(small, split_bytes);
  }
}

std::uint64_t Core::size_of(Address address) const {
  const Block* block = handed_out_.find(address);
  return block == nullptr ? 0 : block->size;
}

Lane& Core::ensure_lane(Pool& pool, StreamId stream) {
  if (Lane* lane = pool.find_lane(stream)) return *lane;
  std::uint32_t index = static_cast<std::uint32_t>(lanes_.size());
  if (unused_lanes_.empty()) {
    EBB_CHECK(index < (1U << 24));
    lanes_.emplace_back();
  } else {
    index = unused_lanes_.back();
    unused_lanes_.pop_back();
  }
  lanes_[index] = std::make_unique<Lane>(stream, &pool, index, profile_.tie_break, segments_);
  Lane* lane = lanes_[index].get();
  auto at = pool.lanes.begin();
  while (at != pool.lanes.end() && (*at)->stream < stream) {
    ++at;
  }
  pool.lanes.insert(at, lane);
  pool.recent = lane;
  return *lane;
}

}  // namespace ebb::cache
