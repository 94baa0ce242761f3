// SPDX-License-Identifier: Apache-2.0
// The path of a request that finds a cached block, and of its free: what is here runs millions of
// times a second.
#include "cache/core.h"

namespace ebb::cache {

[[gnu::always_inline]] inline Block* Core::find_cached(Pool& pool, Lane* lane,
                                                       std::uint64_t rounded) {
  if (collecting_) [[unlikely]]
    ++pool.searches;
  if (lane == nullptr) [[unlikely]]
    return nullptr;
  const FreeBlocks::Place place = lane->free.find_at_least(rounded);
  Block* block = place.block();
  if (block == nullptr) [[unlikely]]
    return nullptr;
  if (block->expandable) [[unlikely]]
    return find_expandable(*lane, block, rounded);
  if (refuses(block, rounded)) [[unlikely]]
    return nullptr;
  lane->free.take(place);
  return block;
}

Block* Core::search(Pool& pool, Lane* lane, std::uint64_t rounded) {
  return find_cached(pool, lane, rounded);
}

[[gnu::always_inline]] inline Block* Core::split_front(Block* block, Lane& lane,
                                                       std::uint64_t size) {
  Block* front = slab_.create_like(*block);
  front->size = size;
  front->next = block;
  front->next_free = true;
  if (block->prev != nullptr) {
    block->prev->next = front;
    block->prev->next_free = false;
  }
  block->prev = front;
  block->address += size;
  block->size -= size;
  lane.free.insert(block);
  return front;
}

Address Core::hand_out(Block* block, Lane& lane, std::uint64_t bytes, std::uint64_t rounded,
                       bool split) {
  handed_out_.prefetch(block->address);
  const bool small = lane.pool->small;
  const bool was_split = block->is_split();
  // A free piece of a split segment is taken, a smaller one is left, or both.
  std::int64_t split_bytes = was_split ? -static_cast<std::int64_t>(block->size) : 0;
  if (split) {
    split_bytes += static_cast<std::int64_t>(block->size - rounded);
    block = split_front(block, lane, rounded);
  } else {
    block->tell_neighbours(false);
  }
  if (!block->expandable) [[likely]] {
    stats_.inactive_split.change(small, std::int64_t{split} - std::int64_t{was_split});
    stats_.inactive_split_bytes.change(small, split_bytes);
  }
  block->allocated = true;
  block->requested = bytes;
  handed_out_.insert(block);
  stats_.on_allocate(small, static_cast<std::int64_t>(block->size),
                     static_cast<std::int64_t>(bytes));
  if (block->size >= max_split_) [[unlikely]]
    stats_.oversize_allocations.increase(1);
  if (history_.is_on()) [[unlikely]]
    note_block(Action::alloc, block);
  return block->address;
}

Address Core::allocate(std::uint64_t bytes, StreamId stream) {
  if (bytes - 1 >= kAbsurdSize - 1) [[unlikely]]
    return refuse_size(bytes, stream);
  if (waits_.any()) [[unlikely]]
    on_wait_possible(stream);
  const std::uint64_t rounded = round_(bytes);
  PoolPair& pools = private_pools_.has_scopes() ? route(stream) : default_;
  Pool& pool = pools.half(rounded <= kSmallLimit);
  Block* block = find_cached(pool, pool.find_lane(stream), rounded);
  if (block == nullptr) [[unlikely]] {
    const std::uint64_t segment = segment_size(rounded, settings_.large_segment_size);
    block = miss({bytes, rounded, segment, stream, &pool});
    if (block == nullptr) return 0;
  }
  Lane& lane = lane_of(block);
  return hand_out(block, lane, bytes, rounded, should_split(*lane.pool, block, rounded));
}

void Core::absorb_prev(Block* block) {
  Block* prev = block->prev;
  block->address = prev->address;
  block->size += prev->size;
  block->prev = prev->prev;
  block->prev_free = prev->prev_free;
  if (block->prev != nullptr) block->prev->next = block;
  slab_.release(prev);
}

void Core::absorb_next(Block* block) {
  Block* next = block->next;
  block->size += next->size;
  block->next = next->next;
  block->next_free = next->next_free;
  if (block->next != nullptr) block->next->prev = block;
  slab_.release(next);
}

void Core::complete_free(Block* block) {
  if (history_.is_on()) [[unlikely]]
    note_block(Action::free_completed, block);
  Lane& lane = lane_of(block);
  const bool small = lane.pool->small;
  std::int64_t split_blocks = 0;
  std::int64_t split_bytes = 0;
  if (block->prev_free) {
    split_bytes -= static_cast<std::int64_t>(block->prev->size);
    --split_blocks;
    lane.free.erase(block->prev);
    absorb_prev(block);
  }
  if (block->next_free) {
    split_bytes -= static_cast<std::int64_t>(block->next->size);
    --split_blocks;
    lane.free.erase(block->next);
    absorb_next(block);
  }
  block->tell_neighbours(true);
  lane.free.insert(block);
  stats_.requested_bytes.decrease(small, static_cast<std::int64_t>(block->requested));
  if (block->is_split()) {
    split_bytes += static_cast<std::int64_t>(block->size);
    ++split_blocks;
  } else {
    segments_[block->segment].freed_at = lane.pool->searches;
  }
  if (!block->expandable) {
    stats_.inactive_split.change(small, split_blocks);
    stats_.inactive_split_bytes.change(small, split_bytes);
  }
}

bool Core::free(Address address) {
  Block* block = handed_out_.take(address);
  if (block == nullptr) [[unlikely]]
    return false;
  // Both neighbours are told that it is free: fetched together, while the counters are kept.
  __builtin_prefetch(block->prev, 1);
  __builtin_prefetch(block->next, 1);
  block->allocated = false;
  stats_.on_free(lane_of(block).pool->small, static_cast<std::int64_t>(block->size));
  if (block->size >= max_split_) [[unlikely]]
    stats_.oversize_allocations.decrease(1);
  if (history_.is_on()) [[unlikely]]
    note_block(Action::free_requested, block);
  if (block->shared) [[unlikely]] {
    release_shared(block);
  } else {
    complete_free(block);
  }
  return true;
}

}  // namespace ebb::cache
