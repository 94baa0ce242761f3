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
      lock_break_(options.lock_break),
      waits_(driver, device,
             {profile_.drops_capture_streams(), options.completions, options.topology},
             [this](Block* block) { end_wait(block); }),
      history_(options.unix_time_us),
      private_pools_(settings_, profile_, *counters_) {
  const std::uint64_t max_split = options.settings.max_split_size;
  stats_.max_split_size = max_split == kUnlimited ? -1 : static_cast<std::int64_t>(max_split);
  if (profile_.tie_break == TieBreak::creation) slab_.number_blocks();
  set_up(default_, nullptr);
}

Core::~Core() {
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

std::uint64_t Core::size_of(Address address) const {
  const Block* block = handed_out_.find(address);
  return block == nullptr ? 0 : block->size;
}

MemoryRange Core::segment_of(Address address) const {
  const Block* first = handed_out_.find(address);
  if (first == nullptr) return {};
  while (first->prev != nullptr && first->prev->mapped) {
    first = first->prev;
  }
  MemoryRange range{first->address, 0};
  for (const Block* block = first; block != nullptr && block->mapped; block = block->next) {
    range.size += block->size;
  }
  return range;
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

PoolPair& Core::route(StreamId stream) {
  PrivatePool* pool = private_pools_.route(stream);
  return pool != nullptr ? pool->pools : default_;
}

PoolId Core::id_of(const Pool& pool) const {
  return pool.owner != nullptr ? pool.owner->id : PoolId{};
}

void Core::note_block(Action action, const Block* block) {
  const Lane& lane = lane_of(block);
  history_.note(action, block->address, block->requested, lane.stream, id_of(*lane.pool));
}

void Core::note_snapshot() {
  if (!history_.is_on()) return;
  history_.note(Action::snapshot, 0,
                static_cast<std::uint64_t>(stats_.current(Metric::active_bytes)), 0, {});
}

void Core::record_history(const HistoryOptions& options) {
  HistoryOptions adjusted = options;
  adjusted.clear |= !options.enabled && profile_.clears_history_when_disabled();
  history_.record(adjusted);
}

void Core::count_reserved(const Pool& pool, std::int64_t by) {
  stats_.reserved_bytes.change(pool.small, by);
  if (pool.owner != nullptr) private_reserved_[pool.owner->id].change(pool.small, by);
}

void Core::reset_peaks() {
  stats_.reset_peaks();
  for (auto& [id, counter] : private_reserved_) {
    counter.reset_peak();
  }
}

void Core::reset_sums() {
  stats_.reset_sums();
  for (auto& [id, counter] : private_reserved_) {
    counter.reset_sums();
  }
}

}  // namespace ebb::cache
