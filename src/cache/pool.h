// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cache/free_blocks.h"
#include "cache/settings.h"
#include "trace/pool_id.h"

namespace ebb::cache {

struct Pool;
struct PrivatePool;

using trace::PoolId;

/// Numbers that the devices of one process share. Thread-safe.
struct ProcessCounters {
  std::atomic<std::uint64_t> segments{0};
  std::atomic<std::uint64_t> user_pools{1};
  std::atomic<std::uint64_t> graph_pools{1};
};

/// What one stream owns in one pool. Blocks never move to another lane.
struct Lane {
  Lane(StreamId stream_id, Pool* owner, std::uint32_t number, TieBreak tie_break,
       const SegmentTable& segments)
      : stream(stream_id), pool(owner), index(number), free(tie_break, segments) {}

  StreamId stream;
  Pool* pool;
  std::uint32_t index;
  FreeBlocks free;
  std::vector<Block*> unmapped;  ///< by address
};

/// The small or the large half of a pool.
struct Pool {
  bool small = false;
  PrivatePool* owner = nullptr;  ///< null for the default pool
  /// Whether requests here use expandable segments under the settings in force.
  bool expandable = false;
  /// A block is split when at least this much would be left over and the size is below split_below.
  std::uint64_t least_remainder = 512;
  std::uint64_t split_below = kUnlimited;
  std::uint64_t searches = 0;  ///< counted while garbage collection is on
  Lane* recent = nullptr;
  std::vector<Lane*> lanes;  ///< by stream

  /// The lane of `stream`, or null when the stream never allocated here.
  Lane* find_lane(StreamId stream) {
    if (recent != nullptr && recent->stream == stream) [[likely]]
      return recent;
    return find_other_lane(stream);
  }

 private:
  Lane* find_other_lane(StreamId stream);
};

struct PoolPair {
  Pool small;
  Pool large;

  Pool& half(bool is_small) { return is_small ? small : large; }
};

/// Where the segments of a private pool come from, when not from the driver. Called with the
/// allocator's lock held.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  /// 0 when there is no memory.
  virtual Address allocate(std::uint64_t bytes, int device, StreamId stream) = 0;
  virtual void release(Address address, std::uint64_t bytes, int device, StreamId stream) = 0;
};

struct PrivatePoolOptions {
  SegmentSource* source = nullptr;  ///< outlives the pool
  bool use_on_oom = false;          ///< serves requests of the default pool that found no memory
  bool no_split = false;
};

/// A pool of its own, for a graph or a user.
struct PrivatePool {
  PoolId id;
  PoolPair pools;
  PrivatePoolOptions options;
  int uses = 1;
  /// Driver allocations it owns, counted as PyTorch counts them: one for each successful attempt,
  /// less one for each release or unmapping.
  int segments = 0;
};

/// Tells both halves which they are and whose; null for the default pool.
void set_up(PoolPair& pools, PrivatePool* owner);

/// Sets what follows from the settings for both halves: expandable segments and splitting.
void refresh_rules(PoolPair& pools, const Settings& settings, const VersionProfile& profile);

}  // namespace ebb::cache
