// SPDX-License-Identifier: Apache-2.0
#include "trace/initial_state.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/bytes.h"
#include "base/text.h"
#include "trace/extents.h"

namespace ebb::trace {
namespace {

using base::kMiB;

constexpr std::uint64_t kBlockRounding = 512;
/// PyTorch's small pool serves requests up to this size, from segments of 2 MiB.
constexpr std::uint64_t kLargestSmall = kMiB;
constexpr std::uint64_t kSmallSegment = 2 * kMiB;

/// Kinds of trouble, each counted and noted once.
enum class Trouble : std::uint8_t {
  not_live,      ///< an allocation whose block is not there afterwards
  still_live,    ///< a free whose block is there afterwards
  not_mapped,    ///< a new segment that is not there afterwards
  still_mapped,  ///< a released segment that is there afterwards
  outside,       ///< a block in no segment
  too_large,     ///< a block that runs into the next or out of its segment
  unknown_pool,  ///< a released segment that may have been a private pool's
};
constexpr std::array<const char*, 7> kTroubles = {
    "allocations left out: nothing is at their address later, and no event frees them",
    "frees left out: their block is still in use later, and no event allocates it again",
    "new segments left out: they are not there later, and no event releases them",
    "released segments left out: they overlap segments that are there later",
    "blocks left out: they were in use before the first event, in a segment that is not known",
    "blocks left out: they overlap the next block or the end of their segment",
    "segments were released, and the file does not say from which pool: taken as the default pool",
};

class Rewinder {
 public:
  Rewinder(const Snapshot& snapshot, std::size_t device);

  void undo(std::size_t index, const Event& event);
  InitialState state() &&;

 private:
  void undo_free(const Event& event, BlockState before);
  void add_extent(const Event& event, bool expandable);
  void note(Trouble trouble);
  void fill(Segment& segment, const std::vector<Block>& live, std::size_t& next, InitialState& out);

  const Snapshot& snapshot_;
  Extents extents_;
  std::unordered_map<Address, Block> live_;  ///< size 0: not known
  std::array<std::size_t, kTroubles.size()> troubles_{};
  std::array<std::size_t, kTroubles.size()> first_{};
  std::size_t index_ = 0;
  bool completions_ = false;  ///< the trace tells when frees complete
  bool private_pools_ = false;
};

Rewinder::Rewinder(const Snapshot& snapshot, std::size_t device) : snapshot_(snapshot) {
  for (const Segment& segment : snapshot.segments) {
    if (segment.device < 0 || static_cast<std::size_t>(segment.device) != device) continue;
    Extent extent;
    extent.size = segment.size;
    extent.stream = segment.stream;
    extent.pool = segment.pool;
    extent.stack = segment.stack;
    extent.small = segment.small;
    extent.small_known = true;
    extent.expandable = segment.expandable;
    extents_.add(segment.address, extent);
    private_pools_ |= !segment.pool.is_default();
    for (const Block& block : segment.blocks) {
      if (block.state != BlockState::inactive) live_.emplace(block.address, block);
    }
  }
  if (device >= snapshot.traces.size()) return;
  for (const Event& event : snapshot.traces[device]) {
    if (event.action == Action::free_completed) completions_ = true;
  }
}

void Rewinder::note(Trouble trouble) {
  const auto kind = static_cast<std::size_t>(trouble);
  ++troubles_[kind];
  first_[kind] = index_;  // backwards: the last one noted is the first in the trace
}

void Rewinder::undo(std::size_t index, const Event& event) {
  index_ = index;
  switch (event.action) {
    case Action::alloc:
      if (live_.erase(event.address) == 0) note(Trouble::not_live);
      break;
    case Action::free_requested:
      undo_free(event, BlockState::active_allocated);
      break;
    case Action::free_completed:
      undo_free(event, BlockState::active_pending_free);
      break;
    case Action::segment_alloc:
    case Action::segment_map: {
      const bool expandable = event.action == Action::segment_map;
      if (!extents_.remove(event.address, event.size, expandable)) note(Trouble::not_mapped);
      break;
    }
    case Action::segment_free:
    case Action::segment_unmap:
      add_extent(event, event.action == Action::segment_unmap);
      break;
    case Action::oom:
    case Action::snapshot:
    case Action::annotate:
      break;
  }
}

void Rewinder::undo_free(const Event& event, BlockState before) {
  Block block;
  block.address = event.address;
  block.requested = event.size;
  block.state = before;
  const auto [place, added] = live_.try_emplace(event.address, block);
  if (added) {
    // A free that was asked for but neither completed nor left pending: only natural where the
    // recording leaves out completions.
    if (before == BlockState::active_allocated && completions_) note(Trouble::still_live);
    return;
  }
  const bool pending = place->second.state == BlockState::active_pending_free;
  if (before == BlockState::active_allocated && pending) {
    place->second.state = BlockState::active_allocated;
  } else {
    note(Trouble::still_live);
  }
}

void Rewinder::add_extent(const Event& event, bool expandable) {
  Extent extent;
  extent.size = event.size;
  extent.stream = snapshot_.streams[event.stream];
  extent.pool = snapshot_.pools[event.pool];
  extent.expandable = expandable;
  extent.small = event.size == kSmallSegment;
  extent.pool_known = snapshot_.has_pool_ids || !private_pools_;
  extent.event = index_;
  if (!extents_.add(event.address, extent)) note(Trouble::still_mapped);
}

/// Puts the live blocks of a segment into it, and free ones between them.
void Rewinder::fill(Segment& segment, const std::vector<Block>& live, std::size_t& next,
                    InitialState& out) {
  Address at = segment.address;
  const Address end = segment.address + segment.size;
  const auto gap_until = [&](Address until) {
    if (until == at) return;
    Block gap;
    gap.address = at;
    gap.size = until - at;
    segment.blocks.push_back(gap);
    at = until;
  };
  for (; next < live.size() && live[next].address < end; ++next) {
    Block block = live[next];
    const Address limit =
        next + 1 < live.size() ? std::min(end, std::max(live[next + 1].address, at)) : end;
    const bool guessed = block.size == 0;
    if (guessed) {
      const std::uint64_t wanted = std::max<std::uint64_t>(block.requested, 1);
      const std::uint64_t rounded = (wanted + kBlockRounding - 1) / kBlockRounding * kBlockRounding;
      // Some settings of old releases leave sizes unrounded.
      block.size = std::max(wanted, std::min(rounded, limit - std::min(limit, block.address)));
    }
    if (block.address < at || block.size > limit - block.address) {
      note(Trouble::too_large);
      continue;
    }
    out.guessed_sizes += guessed ? 1 : 0;
    gap_until(block.address);
    segment.blocks.push_back(block);
    at += block.size;
    const bool pending = block.state == BlockState::active_pending_free;
    ++(pending ? out.pending_blocks : out.allocated_blocks);
    out.requested_bytes += block.requested;
  }
  gap_until(end);
}

InitialState Rewinder::state() && {
  index_ = 0;
  std::vector<Block> live;
  live.reserve(live_.size());
  for (const auto& entry : live_) {
    live.push_back(entry.second);
  }
  std::sort(live.begin(), live.end(),
            [](const Block& a, const Block& b) { return a.address < b.address; });
  InitialState out;
  std::size_t next = 0;
  for (const auto& [address, extent] : extents_.all()) {
    for (; next < live.size() && live[next].address < address; ++next) {
      note(Trouble::outside);
    }
    if (!extent.pool_known) {
      index_ = extent.event;
      note(Trouble::unknown_pool);
    }
    Segment segment;
    segment.address = address;
    segment.size = extent.size;
    segment.stream = extent.stream;
    segment.pool = extent.pool;
    segment.small = extent.small;
    segment.expandable = extent.expandable;
    segment.stack = extent.stack;
    fill(segment, live, next, out);
    if (!extent.small_known) {
      for (const Block& block : segment.blocks) {
        if (block.state != BlockState::inactive) segment.small = block.requested <= kLargestSmall;
      }
    }
    out.segments.push_back(std::move(segment));
  }
  for (; next < live.size(); ++next) {
    note(Trouble::outside);
  }
  for (std::size_t i = 0; i < kTroubles.size(); ++i) {
    if (troubles_[i] == 0) continue;
    out.notes.push_back(
        base::format_text("%zu %s (first: event %zu)", troubles_[i], kTroubles[i], first_[i]));
  }
  return out;
}

}  // namespace

InitialState initial_state(const Snapshot& snapshot, std::size_t device) {
  Rewinder rewinder(snapshot, device);
  if (device < snapshot.traces.size()) {
    const std::vector<Event>& trace = snapshot.traces[device];
    for (std::size_t i = trace.size(); i-- > 0;) {
      rewinder.undo(i, trace[i]);
    }
  }
  InitialState state = std::move(rewinder).state();
  for (Segment& segment : state.segments) {
    segment.device = static_cast<int>(device);
  }
  return state;
}

}  // namespace ebb::trace
