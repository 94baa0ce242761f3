// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cache/trace.h"

namespace ebb::cache {

/// What happened in an allocator: keeps the last entries, as PyTorch's history does, and tells a
/// sink of every one. Not thread-safe.
class History {
 public:
  /// `unix_time_us` dates the entries; null: the system's clock.
  explicit History(std::int64_t (*unix_time_us)());

  /// Whether anybody wants entries. Whoever has one to add asks first: this is read on every
  /// request.
  bool is_on() const { return on_; }
  /// An entry with the present time: to the sink, and kept unless its action is skipped.
  void note(Action action, Address address, std::uint64_t size, StreamId stream, PoolId pool);

  /// Starts and stops keeping entries. Those kept before stay, unless `options` clears them.
  void record(const HistoryOptions& options);
  /// Outlives its time here; null takes it away.
  void set_sink(TraceSink* sink);

  /// What is kept, oldest first.
  std::vector<TraceEntry> entries() const { return kept_.entries(); }

 private:
  void refresh() { on_ = recording_ || sink_ != nullptr; }

  bool on_ = false;
  bool recording_ = false;
  std::uint32_t skipped_ = 0;  ///< a bit for each action
  TraceSink* sink_ = nullptr;
  std::int64_t (*unix_time_us_)();
  TraceBuffer kept_;
};

}  // namespace ebb::cache
