// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cache/pool.h"
#include "trace/action.h"

namespace ebb::cache {

using trace::Action;
using trace::kActions;
using trace::name_of;

/// One line of the history.
struct TraceEntry {
  Action action = Action::alloc;
  Address address = 0;     ///< for `oom`: bytes that the device had free
  std::uint64_t size = 0;  ///< requested bytes; for `oom` rounded ones; for `segment_*` the range
  StreamId stream = 0;
  PoolId pool;
  std::int64_t time_us = 0;  ///< Unix time
};

/// Told of every entry as it happens, from inside the allocator: must not call it back.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on_entry(const TraceEntry& entry) = 0;
};

/// How much history is kept.
struct HistoryOptions {
  bool enabled = true;
  std::size_t max_entries = static_cast<std::size_t>(-1);  ///< at least 1 is kept
  bool clear = false;                                      ///< forget what was recorded before
  std::vector<Action> skipped = {};                        ///< not recorded
};

/// The last entries, oldest first. Growing it later keeps what is there; shrinking it below what it
/// holds only narrows the part that is written over, as in PyTorch. Not thread-safe.
class TraceBuffer {
 public:
  void set_capacity(std::size_t entries) { capacity_ = entries == 0 ? 1 : entries; }
  void append(const TraceEntry& entry);
  void clear();
  std::size_t size() const { return entries_.size(); }
  std::vector<TraceEntry> entries() const;

 private:
  std::vector<TraceEntry> entries_;
  std::size_t capacity_ = 1;
  std::size_t next_ = 0;
};

}  // namespace ebb::cache
