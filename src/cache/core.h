// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/address_map.h"
#include "cache/failure.h"
#include "cache/history.h"
#include "cache/pool.h"
#include "cache/private_pools.h"
#include "cache/rounding.h"
#include "cache/settings.h"
#include "cache/stats.h"
#include "cache/stream_waits.h"
#include "device/driver.h"

namespace ebb::cache {

struct SnapshotSegment;

struct MemoryRange {
  Address address = 0;
  std::uint64_t size = 0;
};

/// Lets others at the allocator while a call into foreign code runs.
class LockBreak {
 public:
  virtual ~LockBreak() = default;
  virtual void leave() = 0;
  virtual void enter() = 0;
};

struct CoreOptions {
  VersionProfile profile;
  Settings settings;
  ProcessCounters* counters = nullptr;      ///< null: this device's own
  CompletionSource* completions = nullptr;  ///< null: the driver's events
  CaptureTopology* topology = nullptr;
  LockBreak* lock_break = nullptr;           ///< null: callers need no lock
  std::int64_t (*unix_time_us)() = nullptr;  ///< null: the system's clock
};

/// PyTorch's caching allocator for one device, without a lock: one thread at a time. A request that
/// finds a cached block takes no memory from the heap (but for growing tables) and makes no system
/// call. `Allocator` is the thread-safe form.
class Core {
 public:
  /// The driver, and everything the options point to, outlives the Core. Fails when the driver
  /// does not know the device.
  static base::Result<std::unique_ptr<Core>> create(device::Driver& driver, int device,
                                                    const CoreOptions& options);
  /// Gives every segment back to the driver, also those with blocks in use.
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// At least `bytes` for use on `stream`. 0 when there is no memory: last_failure says why; also
  /// for 0 bytes, which is no failure.
  Address allocate(std::uint64_t bytes, StreamId stream);
  /// Of the last request that returned 0.
  const Failure& last_failure() const { return last_failure_; }
  /// Gives a block back. False when `address` was not handed out.
  bool free(Address address);
  /// Keeps a block, once freed, from being reused before what `stream` has queued until then is
  /// done. False when `address` was not handed out.
  bool record_stream(Address address, StreamId stream);
  /// Bytes of the block handed out at `address`; 0 when there is none.
  std::uint64_t size_of(Address address) const;
  /// The segment that the block handed out at `address` lies in, or the unbroken run of mapped
  /// memory of an expandable one; size 0 when there is no such block.
  MemoryRange segment_of(Address address) const;

  /// Waits for all streams and gives unused segments back. Fails where that PyTorch would: in a
  /// capture, up to 2.7.
  base::Status empty_cache();

  /// Bytes that this process may take on the device, as a share of its memory. Fails outside 0…1.
  base::Status set_memory_fraction(double fraction);
  /// The same in bytes; kUnlimited takes it away.
  void set_limit(std::uint64_t bytes);
  /// kUnlimited when there is no limit.
  std::uint64_t limit() const { return limit_; }

  /// New settings for what happens from now on.
  void apply(const Settings& settings);
  const Settings& settings() const { return settings_; }
  const VersionProfile& profile() const { return profile_; }

  /// Starts in the middle: takes the segments of a snapshot over, in their order, with their blocks
  /// in use or free (waiting ones as in use). Asks the driver for each, after telling `expect` the
  /// address that it must give out. Private pools must have been retained. For an allocator that
  /// has served no request yet; after a failure it is good for nothing.
  base::Status adopt(const std::vector<SnapshotSegment>& segments,
                     const std::function<void(Address)>& expect);

  // Private pools: see PrivatePools.
  PoolId next_pool_id(bool for_graph) { return private_pools_.next_id(for_graph); }
  base::Status retain_pool(PoolId id, const PrivatePoolOptions& options = {}) {
    return private_pools_.retain(id, options);
  }
  /// Takes one use away; without uses its memory is given back by the next release.
  base::Status release_pool(PoolId id) { return private_pools_.release(id); }
  /// Gives back what a pool without uses holds, after waiting for its own blocks.
  base::Status empty_pool(PoolId id);
  base::Status begin_scope(PoolId id, std::function<bool(StreamId)> filter) {
    return private_pools_.begin_scope(id, std::move(filter));
  }
  base::Status end_scope(PoolId id);
  void set_use_on_oom(PoolId id, bool on) { private_pools_.set_use_on_oom(id, on); }
  int pool_uses(PoolId id) const { return private_pools_.uses(id); }

  // Statistics and history.
  const Stats& stats() const { return stats_; }
  const std::map<PoolId, PooledCounter>& private_reserved() const { return private_reserved_; }
  void reset_peaks();
  void reset_sums();
  /// Clears it when it is switched off where that PyTorch would (2.3 on).
  void record_history(const HistoryOptions& options);
  void set_trace_sink(TraceSink* sink) { history_.set_sink(sink); }
  std::vector<TraceEntry> history() const { return history_.entries(); }
  /// Adds the `snapshot` entry that PyTorch leaves behind each snapshot.
  void note_snapshot();

  int device() const { return device_; }
  const device::DeviceInfo& info() const { return info_; }
  std::uint64_t reserved() const { return reserved_; }

  /// Calls `visit(first block, segment)` for every segment, in no order.
  template <class Visit>
  void for_each_segment(Visit&& visit) const {
    slab_.for_each([&](Block* block) {
      if (block->prev == nullptr) visit(block, segments_[block->segment]);
    });
  }
  /// Bytes of the largest free block.
  std::uint64_t largest_free() const;
  /// Aborts on a broken invariant: neighbours, order, sums. For tests; slow.
  void check_invariants() const;

 private:
  struct Request {
    std::uint64_t bytes = 0;
    std::uint64_t rounded = 0;
    std::uint64_t segment = 0;
    StreamId stream = 0;
    Pool* pool = nullptr;
  };
  enum class Attempt : std::uint8_t { ok, out_of_memory, rejected, failed };

  Core(device::Driver& driver, int device, const CoreOptions& options, device::DeviceInfo info);

  // hit.cpp
  Block* search(Pool& pool, Lane* lane, std::uint64_t rounded);
  Block* find_cached(Pool& pool, Lane* lane, std::uint64_t rounded);
  bool refuses(const Block* block, std::uint64_t rounded) const {
    return rounded < max_split_ ? block->size >= max_split_
                                : block->size >= rounded + non_split_rounding_;
  }
  Block* split_front(Block* block, Lane& lane, std::uint64_t size);
  Address hand_out(Block* block, Lane& lane, std::uint64_t bytes, std::uint64_t rounded,
                   bool split);
  void complete_free(Block* block);
  void absorb_prev(Block* block);
  void absorb_next(Block* block);
  static bool should_split(const Pool& pool, const Block* block, std::uint64_t rounded) {
    return block->size - rounded >= pool.least_remainder && rounded < pool.split_below;
  }
  Lane& lane_of(const Block* block) const { return *lanes_[block->lane]; }

  // core.cpp
  Lane& ensure_lane(Pool& pool, StreamId stream);
  PoolPair& route(StreamId stream);
  PoolId id_of(const Pool& pool) const;
  void note_block(Action action, const Block* block);
  void count_reserved(const Pool& pool, std::int64_t by);

  // miss.cpp: when no cached block fits.
  Block* miss(const Request& request);
  Attempt obtain(const Request& request, bool final, Block*& block, base::Error& error);
  Attempt obtain_plain(const Request& request, Block*& block, base::Error& error);
  Block* search_overflow_pools(const Request& request);
  void fail(const Request& request, FailureKind kind, Failure&& tried);
  Address refuse_size(std::uint64_t bytes, StreamId stream);
  base::Result<Address> segment_from_driver(const Request& request);

  // expandable.cpp
  Block* find_expandable(Lane& lane, Block* block, std::uint64_t rounded);
  Attempt obtain_expandable(const Request& request, Block*& block, base::Error& error);
  base::Result<Block*> expandable_candidate(const Request& request);
  base::Status map_front(Block* block, std::uint64_t size);
  void unmap_inside(Block* block);
  void destroy_expandable(Block* block);
  std::uint64_t expandable_range(std::uint64_t page) const;

  // reclaim.cpp: giving memory back.
  void collect_garbage();
  bool release_available(const Request& request);
  void release_all(PoolId id, bool in_capture);
  void sweep(Pool& pool);
  void release_segment(Block* block);
  void discard_if_empty(PrivatePool* pool);

  // streams.cpp: other streams.
  bool in_capture(StreamId stream);
  void on_wait_possible(StreamId stream);
  void release_shared(Block* block);
  void end_wait(Block* block);

  // adopt.cpp
  void take_over(Block* block, Lane& lane);

  device::Driver& driver_;
  const int device_;
  const device::DeviceInfo info_;
  const VersionProfile profile_;
  Settings settings_;
  ProcessCounters own_counters_;
  ProcessCounters* counters_;
  LockBreak* lock_break_;

  // Hot: read on every request.
  StreamWaits waits_;
  Rounding round_;
  std::uint64_t max_split_ = kUnlimited;
  std::uint64_t non_split_rounding_ = 0;
  bool collecting_ = false;  ///< garbage collection is on, so searches are counted
  std::uint32_t expandable_segments_ = 0;
  History history_;
  PoolPair default_;
  PrivatePools private_pools_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  AddressMap handed_out_;
  BlockSlab slab_;
  Stats stats_;

  SegmentTable segments_;
  std::vector<std::uint32_t> unused_lanes_;
  std::uint64_t reserved_ = 0;
  std::uint64_t limit_ = kUnlimited;
  std::map<PoolId, PooledCounter> private_reserved_;
  Failure last_failure_;
};

}  // namespace ebb::cache
