// SPDX-License-Identifier: Apache-2.0
#include "cache/history.h"

#include <chrono>

namespace ebb::cache {
namespace {

std::int64_t system_time_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

History::History(std::int64_t (*unix_time_us)())
    : unix_time_us_(unix_time_us != nullptr ? unix_time_us : system_time_us) {}

void History::note(Action action, Address address, std::uint64_t size, StreamId stream,
                   PoolId pool) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.size = size;
  entry.stream = stream;
  entry.pool = pool;
  entry.time_us = unix_time_us_();
  if (sink_ != nullptr) sink_->on_entry(entry);
  const bool skipped = (skipped_ >> static_cast<unsigned>(action) & 1U) != 0;
  if (recording_ && !skipped) kept_.append(entry);
}

void History::record(const HistoryOptions& options) {
  if (options.clear) kept_.clear();
  recording_ = options.enabled;
  if (options.enabled) kept_.set_capacity(options.max_entries);
  skipped_ = 0;
  for (const Action action : options.skipped) {
    skipped_ |= 1U << static_cast<unsigned>(action);
  }
  refresh();
}

void History::set_sink(TraceSink* sink) {
  sink_ = sink;
  refresh();
}

}  // namespace ebb::cache
