// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/settings.h"
#include "trace/snapshot.h"

/// What would have happened: a recorded job's own requests under other settings, on another card,
/// under another release of PyTorch; the settings that suit it best; and why it ran out of memory.
namespace ebb::replay {

/// One request of a job, whatever an allocator answered.
struct Operation {
  enum class Kind : std::uint8_t {
    allocate,
    free,         ///< reusable at once
    free_later,   ///< other streams still use it, until `complete` or an allocator that waits
    complete,     ///< noticed by the next allocation
    empty_cache,  ///< called by the job, as far as the recording shows
    failed,       ///< a request that found no memory when it was recorded; `bytes` is rounded
  };
  std::uint64_t bytes = 0;   ///< allocate, failed
  std::uint32_t block = 0;   ///< which one: 0, 1, … in order of allocation
  std::uint32_t event = 0;   ///< index of the recorded event; for blocks from before it, 0
  std::uint16_t stream = 0;  ///< index into Workload::streams
  std::uint16_t pool = 0;    ///< index into Workload::pools
  Kind kind = Kind::allocate;
  bool waited = false;  ///< completions before it came from waiting for all streams
};
static_assert(sizeof(Operation) == 24);

/// Something that happened to a segment, or a request that found no memory.
struct SegmentEvent {
  std::uint64_t requests = 0;  ///< allocations and frees before it
  trace::Action action = trace::Action::segment_alloc;
  std::uint64_t size = 0;

  friend bool operator==(const SegmentEvent&, const SegmentEvent&) = default;
};

/// Where the recording had a new segment.
struct RecordedSegment {
  std::uint64_t requests = 0;
  std::uint64_t size = 0;
  trace::Address address = 0;
};

/// What the recording itself shows of its allocator.
struct Recording {
  std::vector<SegmentEvent> events;
  std::vector<RecordedSegment> segments;  ///< plain ones, in order of time
  std::uint64_t start_reserved = 0;
  std::uint64_t peak_reserved = 0;
  std::uint64_t final_reserved = 0;
  std::uint64_t ooms = 0;
  std::uint64_t largest_oom_free = 0;  ///< most device memory that was free when a request failed
  /// What the process held and the device had left when a request failed that the device could not
  /// serve; 0 where that never happened.
  std::uint64_t device_limit = 0;
  /// The byte limits under which the recorded successes and failures all happen: at least `low`,
  /// below `high`. Without a failure, `high` is kUnlimited.
  std::uint64_t limit_low = 0;
  std::uint64_t limit_high = cache::kUnlimited;
  std::string conf;          ///< settings string in force, "" where there is none
  bool conf_known = false;   ///< PyTorch writes it down from 2.3 on
  cache::Settings settings;  ///< of that string; PyTorch's default where it is none
  int newest_minor = 11;     ///< the newest release that writes such a file
  double seconds = 0;        ///< from the first event to the last; 0 where no times were recorded
};

/// A job on one device, ready to be replayed.
struct Workload {
  std::vector<Operation> operations;
  std::vector<trace::Stream> streams;
  std::vector<trace::PoolId> pools;
  std::uint32_t blocks = 0;
  std::uint64_t requests = 0;  ///< allocations and frees that were recorded
  /// The memory held when recording began; its blocks are the first ones, in this order, and the
  /// first operations allocate them.
  std::vector<trace::Segment> initial;
  std::uint32_t initial_blocks = 0;
  std::uint32_t first_recorded = 0;          ///< operations before it make that memory
  std::vector<trace::Index> initial_stacks;  ///< of those blocks
  Recording recording;
  std::vector<std::string> notes;  ///< what could not be known
};

struct WorkloadOptions {
  int device = 0;
  std::optional<std::uint64_t> limit;  ///< the byte limit it was recorded under, where it is known
  /// A device without a history gives what it holds, as blocks from before the recording.
  bool segments_suffice = false;
};

/// What was recorded on one device; nothing where it has no history.
const std::vector<trace::Event>& history_of(const trace::Snapshot& snapshot, int device);

/// The requests in one device's history. Fails where there is no history of that device.
base::Result<Workload> workload_of(const trace::Snapshot& snapshot, const WorkloadOptions& options);

}  // namespace ebb::replay
