// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cache/snapshot.h"

namespace ebb::cache::truth {

/// One operation of a recorded history, with what PyTorch's counters said after it.
struct Operation {
  enum class Kind { allocate, free, empty_cache, synchronize, pool_begin, pool_end, pool_destroy };
  Kind kind = Kind::allocate;
  std::uint64_t bytes = 0;
  StreamId stream = 0;
  Address address = 0;  ///< 0: out of memory
  std::vector<StreamId> streams;
  PoolId pool;
  bool no_split = false;
  std::vector<Address> completed;  ///< frees that complete at the start, or while it waits
  bool completed_by_waiting = false;
  std::vector<std::pair<std::size_t, std::int64_t>> counters;  ///< changed: index into keys, value
};

struct SegmentEvent {
  std::uint64_t requests = 0;  ///< allocations and frees before it
  std::string action;
  std::uint64_t size = 0;
  friend bool operator==(const SegmentEvent&, const SegmentEvent&) = default;
};

struct Log {
  std::uint64_t total = 0;
  double fraction = 1;
  std::string settings;
  std::vector<Address> addresses;
  std::vector<std::string> keys;
  std::vector<Operation> operations;
  std::string message;
  std::map<std::string, std::int64_t> final_stats;
  std::vector<SegmentEvent> events;
  std::vector<TraceEntry> trace;
  std::vector<SnapshotSegment> segments;
};

/// Runs tests/tools/torch_truth.py on a recorded file; `kind` is "vector" or "run". On failure the
/// log has no operations and the current test has failed.
Log read_log(const std::string& kind, const std::string& path);

}  // namespace ebb::cache::truth
