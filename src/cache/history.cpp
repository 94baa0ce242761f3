// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "cache/core.h"

namespace ebb::cache {
namespace {

std::int64_t system_time_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

PoolId Core::id_of(const Pool& pool) const {
  return pool.owner != nullptr ? pool.owner->id : PoolId{};
}

void Core::note(Action action, Address address, std::uint64_t size, StreamId stream, PoolId pool) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.size = size;
  entry.stream = stream;
  entry.pool = pool;
  entry.time_us = unix_time_us_ != nullptr ? unix_time_us_() : system_time_us();
  if (sink_ != nullptr) sink_->on_entry(entry);
  const bool skipped = (skipped_actions_ >> static_cast<unsigned>(action) & 1U) != 0;
  if (recording_ && !skipped) history_.append(std::move(entry));
}

void Core::note_block(Action action, const Block* block) {
  const Lane& lane = lane_of(block);
  note(action, block->address, block->requested, lane.stream, id_of(*lane.pool));
}

void Core::record_history(const HistoryOptions& options) {
  if (options.clear || (!options.enabled && profile_.clears_history_when_disabled())) {
    history_.clear();
  }
  recording_ = options.enabled;
  if (options.enabled) history_.set_capacity(options.max_entries);
  skipped_actions_ = 0;
  for (const Action action : options.skipped) {
    skipped_actions_ |= 1U << static_cast<unsigned>(action);
  }
  tracing_ = recording_ || sink_ != nullptr;
}

void Core::set_trace_sink(TraceSink* sink) {
  sink_ = sink;
  tracing_ = recording_ || sink_ != nullptr;
}

void Core::note_snapshot() {
  if (!tracing_) return;
  note(Action::snapshot, 0, static_cast<std::uint64_t>(stats_.current(Metric::active_bytes)), 0,
       {});
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
