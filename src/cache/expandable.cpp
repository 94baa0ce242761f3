// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "cache/core.h"

namespace ebb::cache {
namespace {

/// What a block would have if the address space after it were mapped.
std::uint64_t extended_size(const Block* block) {
  return block->size + (block->next != nullptr && !block->next->mapped ? block->next->size : 0);
}

void insert_unmapped(Lane& lane, Block* block) {
  const auto at = std::lower_bound(
      lane.unmapped.begin(), lane.unmapped.end(), block->address,
      [](const Block* other, Address address) { return other->address < address; });
  lane.unmapped.insert(at, block);
}

void erase_unmapped(Lane& lane, const Block* block) {
  const auto at = std::find(lane.unmapped.begin(), lane.unmapped.end(), block);
  EBB_CHECK(at != lane.unmapped.end());
  lane.unmapped.erase(at);
}

/// `piece` becomes the neighbour of `block` on that side.
void link_before(Block* block, Block* piece) {
  piece->prev = block->prev;
  piece->next = block;
  if (block->prev != nullptr) block->prev->next = piece;
  block->prev = piece;
}
void link_after(Block* block, Block* piece) {
  piece->next = block->next;
  piece->prev = block;
  if (block->next != nullptr) block->next->prev = piece;
  block->next = piece;
}

Block* piece_of(BlockSlab& slab, const Block* block, Address address, std::uint64_t size) {
  Block* piece = slab.create();
  piece->address = address;
  piece->size = size;
  piece->segment = block->segment;
  piece->lane = block->lane;
  piece->expandable = true;
  return piece;
}

}  // namespace

Block* Core::find_expandable(Lane& lane, Block* block, std::uint64_t rounded) {
  if (lane.pool->expandable) {
    while (block->expandable) {
      Block* following = lane.free.after(block);
      if (following == nullptr || extended_size(following) >= extended_size(block)) break;
      block = following;
    }
  } else {
    while (block != nullptr && block->expandable) {
      block = lane.free.after(block);
    }
  }
  if (block == nullptr || refuses(block, rounded)) return nullptr;
  lane.free.erase(block);
  return block;
}

std::uint64_t Core::expandable_range(std::uint64_t page) const {
  const std::uint64_t total = info_.total_memory;
  const std::uint64_t full = round_up(total + total / 8, page);
  std::uint64_t wanted = full;
  if (settings_.reserve_fraction) {
    wanted = static_cast<std::uint64_t>(*settings_.reserve_fraction * static_cast<double>(total));
  } else if (settings_.reserve_bytes) {
    wanted = *settings_.reserve_bytes;
  }
  return std::clamp(round_up(wanted, page), page, full);
}

base::Result<Block*> Core::expandable_candidate(const Request& request) {
  Lane& lane = ensure_lane(*request.pool, request.stream);
  for (Block* start : lane.unmapped) {
    if (start->prev != nullptr && start->prev->is_available()) start = start->prev;
    std::uint64_t room = 0;
    for (const Block* b = start; b != nullptr && b->is_available() && room < request.rounded;
         b = b->next) {
      room += b->size;
    }
    if (room >= request.rounded) return start;
  }
  const std::uint64_t page = request.pool->small ? kSmallSegment : settings_.large_segment_size;
  const std::uint64_t range = expandable_range(page);
  if (range < request.rounded) {
    return base::error(base::Code::out_of_memory, "larger than an expandable segment");
  }
  auto address = driver_.reserve(device_, range);
  if (!address) return address.error();
  Segment segment;
  segment.address = *address;
  segment.size = range;
  segment.lane = &lane;
  segment.page = page;
  segment.counter = counters_->segments.fetch_add(1, std::memory_order_relaxed);
  Block* block = slab_.create();
  block->address = *address;
  block->size = range;
  block->lane = lane.index & 0xFFFFFFU;
  block->segment = segments_.add(segment);
  block->expandable = true;
  block->mapped = false;
  insert_unmapped(lane, block);
  ++expandable_segments_;
  if (request.pool->owner != nullptr) ++request.pool->owner->segments;
  return block;
}

Core::Attempt Core::obtain_expandable(const Request& request, Block*& block, base::Error& error) {
  const auto refused = [&](const base::Error& why) {
    if (why.code == base::Code::out_of_memory) return Attempt::out_of_memory;
    error = why;
    return Attempt::failed;
  };
  auto candidate = expandable_candidate(request);
  if (!candidate) return refused(candidate.error());
  Block* found = *candidate;
  if (!found->mapped) {
    const auto mapped = map_front(found, std::min(found->size, request.rounded));
    if (!mapped) return refused(mapped.error());
  }
  while (found->size < request.rounded) {
    Block* rest = found->next;
    const auto mapped = map_front(rest, std::min(request.rounded - found->size, rest->size));
    if (!mapped) return refused(mapped.error());
    found = rest;
  }
  lane_of(found).free.erase(found);
  block = found;
  return Attempt::ok;
}

base::Status Core::map_front(Block* block, std::uint64_t size) {
  const Segment& segment = segments_[block->segment];
  const std::uint64_t pages = (size + segment.page - 1) / segment.page;
  const std::uint64_t bytes = pages * segment.page;
  const Address start = block->address;
  if (auto mapped = driver_.map(device_, start, segment.page, pages); !mapped) {
    return mapped.error();
  }
  Lane& lane = lane_of(block);
  erase_unmapped(lane, block);
  block->mapped = true;
  if (bytes < block->size) {
    Block* rest = piece_of(slab_, block, start + bytes, block->size - bytes);
    rest->mapped = false;
    rest->next_free = block->next_free;
    block->next_free = false;
    link_after(block, rest);
    insert_unmapped(lane, rest);
    block->size = bytes;
  }
  if (block->prev_free) {
    lane.free.erase(block->prev);
    absorb_prev(block);
  }
  if (block->next_free) {
    lane.free.erase(block->next);
    absorb_next(block);
  }
  block->tell_neighbours(true);
  lane.free.insert(block);
  reserved_ += bytes;
  count_reserved(*lane.pool, static_cast<std::int64_t>(bytes));
  ++stats_.num_device_alloc;
  if (history_.is_on())
    history_.note(Action::segment_map, start, bytes, lane.stream, id_of(*lane.pool));
  return {};
}

void Core::unmap_inside(Block* block) {
  const Segment& segment = segments_[block->segment];
  const std::uint64_t page = segment.page;
  const std::uint64_t offset = block->address - segment.address;
  const std::uint64_t first = round_up(offset, page);
  const std::uint64_t end = (offset + block->size) / page * page;
  if (end <= first) return;
  const std::uint64_t bytes = end - first;
  const Address start = segment.address + first;
  Lane& lane = lane_of(block);
  // Nothing may still run on memory that is about to vanish.
  static_cast<void>(driver_.synchronize_stream(device_, lane.stream));
  if (const auto unmapped = driver_.unmap(device_, start, page, bytes / page); !unmapped) {
    base::log(base::LogLevel::error, "unmapping device memory: %s",
              unmapped.error().message.c_str());
    return;
  }
  lane.free.erase(block);
  block->tell_neighbours(false);
  if (start > block->address) {
    Block* head = piece_of(slab_, block, block->address, start - block->address);
    link_before(block, head);
    head->tell_neighbours(true);
    lane.free.insert(head);
  }
  const std::uint64_t tail_size = block->address + block->size - (start + bytes);
  if (tail_size > 0) {
    Block* tail = piece_of(slab_, block, start + bytes, tail_size);
    link_after(block, tail);
    tail->tell_neighbours(true);
    lane.free.insert(tail);
  }
  block->address = start;
  block->size = bytes;
  block->mapped = false;
  if (block->prev != nullptr && !block->prev->mapped) {
    erase_unmapped(lane, block->prev);
    absorb_prev(block);
  }
  if (block->next != nullptr && !block->next->mapped) {
    erase_unmapped(lane, block->next);
    absorb_next(block);
  }
  insert_unmapped(lane, block);
  reserved_ -= bytes;
  count_reserved(*lane.pool, -static_cast<std::int64_t>(bytes));
  ++stats_.num_device_free;
  if (history_.is_on())
    history_.note(Action::segment_unmap, start, bytes, lane.stream, id_of(*lane.pool));
}

void Core::destroy_expandable(Block* block) {
  const Segment segment = segments_[block->segment];
  erase_unmapped(*segment.lane, block);
  if (const auto given = driver_.unreserve(device_, segment.address, segment.size); !given) {
    base::log(base::LogLevel::error, "giving address space back: %s",
              given.error().message.c_str());
  }
  segments_.remove(block->segment);
  slab_.release(block);
  --expandable_segments_;
  if (segment.lane->pool->owner != nullptr) --segment.lane->pool->owner->segments;
}

}  // namespace ebb::cache
