// SPDX-License-Identifier: Apache-2.0
#include "replay/settle.h"

#include <algorithm>

#include "cache/rounding.h"

namespace ebb::replay {
namespace {

/// Bytes that `block` holds of the `room` from its start to the next block in use.
std::uint64_t settled_size(const trace::Block& block, std::uint64_t room,
                           const trace::Segment& segment, const cache::Settings& settings,
                           const cache::Rounding& round) {
  const std::uint64_t requested = std::max<std::uint64_t>(block.requested, 1);
  const std::uint64_t size =
      std::min(room, std::max(block.size, requested < cache::kAbsurdSize ? round(requested) : 0));
  if (segment.expandable) return size;
  if (segment.size >= settings.max_split_size && room == segment.size) return room;
  const std::uint64_t least_rest = segment.small ? cache::kMinBlock : cache::kSmallLimit + 1;
  return room - size < least_rest ? room : size;
}

}  // namespace

void settle(std::vector<trace::Segment>& segments, const cache::Settings& settings,
            const cache::VersionProfile& profile) {
  const cache::Rounding round(settings, profile);
  for (trace::Segment& segment : segments) {
    std::vector<trace::Block> settled;
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      trace::Block block = segment.blocks[i];
      if (block.state == trace::BlockState::inactive) {
        if (block.size != 0) settled.push_back(block);
        continue;
      }
      const bool has_rest = i + 1 < segment.blocks.size() &&
                            segment.blocks[i + 1].state == trace::BlockState::inactive;
      const std::uint64_t room = block.size + (has_rest ? segment.blocks[i + 1].size : 0);
      const std::uint64_t size = settled_size(block, room, segment, settings, round);
      if (has_rest) {
        segment.blocks[i + 1].address += size - block.size;
        segment.blocks[i + 1].size = room - size;
      }
      block.size = size;
      settled.push_back(block);
    }
    segment.blocks = std::move(settled);
  }
}

}  // namespace ebb::replay
