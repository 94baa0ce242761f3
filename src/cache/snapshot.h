// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/core.h"
#include "trace/snapshot.h"

namespace ebb::cache {

using trace::Annotation;
using trace::BlockState;

struct SnapshotBlock {
  Address address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested_size = 0;
  BlockState state = BlockState::inactive;

  friend bool operator==(const SnapshotBlock&, const SnapshotBlock&) = default;
};

/// A plain segment, or one unbroken run of mapped memory of an expandable one.
struct SnapshotSegment {
  int device = 0;
  Address address = 0;
  std::uint64_t total_size = 0;
  std::uint64_t allocated_size = 0;  ///< of blocks in state active_allocated
  std::uint64_t active_size = 0;     ///< of blocks in either active state
  std::uint64_t requested_size = 0;  ///< asked for, of active blocks
  StreamId stream = 0;
  bool small = false;
  PoolId pool;
  bool expandable = false;
  std::vector<SnapshotBlock> blocks;  ///< by address, without gaps

  friend bool operator==(const SnapshotSegment&, const SnapshotSegment&) = default;
};

/// torch.cuda.memory._snapshot() as data.
struct Snapshot {
  VersionProfile profile;
  Settings settings;
  std::vector<SnapshotSegment> segments;               ///< by device, then address
  std::vector<std::vector<TraceEntry>> device_traces;  ///< one per device, oldest first
  std::vector<Annotation> annotations;                 ///< the caller's; the allocator has none
};

/// The segments of one device, by address.
std::vector<SnapshotSegment> segments_of(const Core& core);

/// A recorded segment. Its sums are left open: nobody who takes one over needs them.
SnapshotSegment segment_from(const trace::Segment& recorded);

/// Adds one device, the next one, to a snapshot. Its history then gets PyTorch's `snapshot` entry,
/// which only later snapshots show.
void add_device(Snapshot& snapshot, Core& core);

}  // namespace ebb::cache
