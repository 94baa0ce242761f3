// SPDX-License-Identifier: Apache-2.0
#include "show/snapshot_map.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "replay/lifetimes.h"
#include "show/words.h"

namespace ebb::show {
namespace {

// Beyond it neither a page nor who looks at it is served by more.
constexpr std::size_t kMostBlocks = 200'000;
constexpr std::size_t kMostStackBytes = 16 << 20;

/// The segments that are shown: where there are too many blocks, the largest ones, in their order.
std::vector<const cache::SnapshotSegment*> shown_of(
    const std::vector<cache::SnapshotSegment>& segments) {
  std::vector<const cache::SnapshotSegment*> largest;
  for (const cache::SnapshotSegment& segment : segments)
    largest.push_back(&segment);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto* a, const auto* b) { return a->total_size > b->total_size; });
  std::size_t blocks = 0;
  const auto full = std::find_if(largest.begin(), largest.end(), [&](const auto* segment) {
    blocks += segment->blocks.size();
    return blocks > kMostBlocks;
  });
  largest.erase(full, largest.end());
  std::sort(largest.begin(), largest.end());
  return largest;
}

/// Which stack each block address belongs to, at one moment.
class Stacks {
 public:
  Stacks(const replay::Job& job, const replay::Outcome& outcome, page::MemoryMap& map)
      : job_(job), map_(map) {
    const std::vector<replay::Lifetime> lives = replay::lifetimes_of(job.workload);
    for (const replay::Lifetime& life : lives) {
      if (life.failed || life.block >= outcome.addresses.size()) continue;
      const device::Address address = outcome.addresses[life.block];
      if (address != 0) latest_[address] = life;
    }
  }

  std::optional<std::uint32_t> of(device::Address address) {
    const auto life = latest_.find(address);
    if (life == latest_.end()) return std::nullopt;
    const trace::Index stack =
        replay::stack_of(*job_.snapshot, job_.device, job_.workload, life->second);
    if (stack == trace::kNone) return std::nullopt;
    if (const auto known = numbers_.find(stack); known != numbers_.end()) return known->second;
    if (bytes_ > kMostStackBytes) return std::nullopt;
    map_.stacks.push_back(joined(replay::frame_lines(*job_.snapshot, stack), "\n"));
    bytes_ += map_.stacks.back().size();
    const auto number = static_cast<std::uint32_t>(map_.stacks.size() - 1);
    numbers_.emplace(stack, number);
    return number;
  }

 private:
  const replay::Job& job_;
  page::MemoryMap& map_;
  std::map<device::Address, replay::Lifetime> latest_;
  std::map<trace::Index, std::uint32_t> numbers_;
  std::size_t bytes_ = 0;
};

page::BlockState shown_state(cache::BlockState state) {
  switch (state) {
    case cache::BlockState::active_allocated:
      return page::BlockState::active;
    case cache::BlockState::active_pending_free:
      return page::BlockState::pending;
    case cache::BlockState::inactive:
      break;
  }
  return page::BlockState::free;
}

}  // namespace

page::MemoryMap map_of(const replay::Job& job, const replay::Row& row,
                       const replay::Outcome& moment, const std::string& title) {
  page::MemoryMap map;
  map.title = title;
  map.note = "Setting: " + conf_text(row.conf);
  const auto shown_segments = shown_of(moment.segments);
  if (shown_segments.size() < moment.segments.size()) {
    map.note += base::format_text(", the %zu largest of %zu segments", shown_segments.size(),
                                  moment.segments.size());
  }
  Stacks stacks(job, moment, map);
  for (const cache::SnapshotSegment* shown_segment : shown_segments) {
    const cache::SnapshotSegment& from = *shown_segment;
    page::Segment segment;
    segment.name = base::format_text("0x%llx", static_cast<unsigned long long>(from.address));
    segment.address = from.address;
    segment.size = from.total_size;
    segment.stream = std::to_string(from.stream);
    if (!from.pool.is_default()) {
      segment.pool =
          base::format_text("(%llu, %llu)", static_cast<unsigned long long>(from.pool.first),
                            static_cast<unsigned long long>(from.pool.second));
    }
    segment.kind = from.expandable ? page::SegmentKind::expandable
                   : from.small    ? page::SegmentKind::small
                                   : page::SegmentKind::large;
    for (const cache::SnapshotBlock& block : from.blocks) {
      page::Block shown{block.address - from.address, block.size, block.requested_size,
                        shown_state(block.state), std::nullopt};
      if (shown.state == page::BlockState::free) {
        shown.requested = 0;
      } else {
        shown.stack = stacks.of(block.address);
      }
      segment.blocks.push_back(shown);
    }
    map.segments.push_back(std::move(segment));
  }
  return map;
}

}  // namespace ebb::show
