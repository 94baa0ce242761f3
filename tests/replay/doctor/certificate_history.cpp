// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/certificate_history.h"

namespace ebb::replay {
namespace {

using trace::Action;
using trace::Event;

const std::vector<Event>& events_of(const trace::Snapshot& snapshot, int device) {
  return snapshot.traces[static_cast<std::size_t>(device)];
}

}  // namespace

KnownBlocks blocks_in(const trace::Snapshot& snapshot, int device) {
  KnownBlocks blocks;
  std::map<trace::Address, KnownBlock> earlier;
  std::map<trace::Address, KnownBlock*> live;
  std::map<trace::Address, KnownBlock*> waiting;
  const std::vector<Event>& events = events_of(snapshot, device);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const auto now = static_cast<std::int64_t>(i);
    const auto take = [&](auto& from) -> KnownBlock* {
      const auto found = from.find(event.address);
      if (found == from.end()) return nullptr;
      KnownBlock* block = found->second;
      from.erase(found);
      return block;
    };
    if (event.action == Action::alloc) {
      live[event.address] = &blocks.emplace(now, KnownBlock{event.size, now}).first->second;
    } else if (event.action == Action::oom) {
      blocks.emplace(now, KnownBlock{event.size, now, now + 1, now + 1, true});
    } else if (event.action == Action::free_requested) {
      KnownBlock* block = take(live);
      if (block == nullptr) block = &(earlier[event.address] = KnownBlock{event.size});
      block->freed = now;
      waiting[event.address] = block;
    } else if (event.action == Action::free_completed) {
      KnownBlock* block = take(waiting);
      if (block == nullptr) block = &(earlier[event.address] = KnownBlock{event.size, -1, -1});
      block->ended = now;
    }
  }
  for (const trace::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (const trace::Block& block : segment.blocks) {
      if (block.state == trace::BlockState::active_allocated && !live.contains(block.address)) {
        earlier[block.address] = KnownBlock{block.requested};
      }
      if (block.state == trace::BlockState::active_pending_free &&
          !waiting.contains(block.address)) {
        earlier[block.address] = KnownBlock{block.requested, -1, -1};
      }
    }
  }
  std::int64_t name = -1;
  for (const auto& [address, block] : earlier) {
    blocks.emplace(name--, block);
  }
  return blocks;
}

std::uint64_t reserved_after(const trace::Snapshot& snapshot, int device, std::int64_t event) {
  std::uint64_t reserved = 0;
  for (const trace::Segment& segment : snapshot.segments) {
    if (segment.device == device) reserved += segment.size;
  }
  const std::vector<Event>& events = events_of(snapshot, device);
  for (auto i = static_cast<std::int64_t>(events.size()) - 1; i > event; --i) {
    const Event& later = events[static_cast<std::size_t>(i)];
    const bool added = later.action == Action::segment_alloc || later.action == Action::segment_map;
    if (added) reserved -= later.size;
    if (!added && trace::is_segment_action(later.action)) reserved += later.size;
  }
  return reserved;
}

}  // namespace ebb::replay
