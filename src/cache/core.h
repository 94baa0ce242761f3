// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/address_map.h"
#include "cache/failure.h"
#include "cache/pool.h"
#include "cache/rounding.h"
#include "cache/settings.h"
#include "cache/stats.h"
#include "cache/trace.h"
#include "device/driver.h"

namespace ebb::cache {

struct SnapshotSegment;

struct MemoryRange {
  Address address = 0;
  std::uint64_t size = 0;
};

/// Numbers that the devices of one process share. Thread-safe.
struct ProcessCounters {
  std::atomic<std::uint64_t> segments{0};
  std::atomic<std::uint64_t> user_pools{1};
  std::atomic<std::uint64_t> graph_pools{1};
};

/// Says which frees that wait for other streams are complete, in place of the driver's events: how
/// a recording is replayed exactly, since neither time nor order of completion follow from it.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;
  /// The next block, by address, whose wait is over; nothing when no other one is. With `waiting`
  /// the allocator waits for all of them: it completes the ones not named in order of their free.
  virtual std::optional<Address> next_completed(bool waiting) = 0;
};

/// Knows the graph that is being captured, for graph_capture_record_stream_reuse.
class CaptureTopology {
 public:
  virtual ~CaptureTopology() = default;
  /// A block was freed that these streams used: remember where their captures stand.
  virtual void mark_uses(Address address, StreamId own, const std::vector<StreamId>& others) = 0;
  /// Whether everything remembered for the block precedes what `stream` captures next.
  virtual bool uses_precede(Address address, StreamId stream) = 0;
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

  // Private pools.
  /// A new name: a user's pool, or a graph's own.
  PoolId next_pool_id(bool for_graph);
  /// Makes the pool, or adds a use to it. Fails when it was released already.
  base::Status retain_pool(PoolId id, const PrivatePoolOptions& options = {});
  /// Takes one use away; without uses its memory is given back by the next release.
  base::Status release_pool(PoolId id);
  /// Gives back what a pool without uses holds, after waiting for its own blocks.
  base::Status empty_pool(PoolId id);
  /// Requests that `filter` accepts go to the pool (which gets a use) until end_scope.
  base::Status begin_scope(PoolId id, std::function<bool(StreamId)> filter);
  base::Status end_scope(PoolId id);
  void set_use_on_oom(PoolId id, bool on);
  int pool_uses(PoolId id) const;

  // Statistics and history.
  const Stats& stats() const { return stats_; }
  const std::map<PoolId, PooledCounter>& private_reserved() const { return private_reserved_; }
  void reset_peaks();
  void reset_sums();
  void record_history(const HistoryOptions& options);
  void set_trace_sink(TraceSink* sink);
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
  struct Scope {
    PoolId id;
    std::function<bool(StreamId)> filter;
  };
  struct PendingEvent {
    device::EventId event = 0;
    Block* block = nullptr;
  };
  struct SideQueue {
    StreamId stream = 0;
    std::deque<PendingEvent> events;
  };

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

  // events.cpp: other streams.
  bool in_capture(StreamId stream);
  void on_wait_possible(StreamId stream);
  void release_shared(Block* block);
  void insert_events(Block* block);
  void insert_deferred_events();
  void poll_events();
  void wait_for_events(const PrivatePool* only);
  void finish_wait(Block* block);
  void complete_reusable(StreamId stream);
  void complete_deferred_of(const PrivatePool* pool);
  void complete_named(Address address);
  void end_event(const PendingEvent& pending);
  void drop_captured_uses(Block* block);
  StreamUses& uses_of(Block* block);
  void update_waiting() { waiting_ = pending_ != 0 || !deferred_.empty(); }

  // adopt.cpp
  void take_over(Block* block, Lane& lane);

  // private_pools.cpp
  PoolPair& route(StreamId stream);
  void refresh_pool(Pool& pool) const;
  void refresh_pools();
  void set_up_pool(PoolPair& pools, PrivatePool* owner);
  PrivatePool* find_pool(PoolId id) const;

  // history.cpp
  void note(Action action, Address address, std::uint64_t size, StreamId stream, PoolId pool);
  void note_block(Action action, const Block* block);
  PoolId id_of(const Pool& pool) const;
  void count_reserved(const Pool& pool, std::int64_t by);

  // Hot: read on every request.
  Rounding round_;
  std::uint64_t max_split_ = kUnlimited;
  std::uint64_t non_split_rounding_ = 0;
  bool waiting_ = false;     ///< a free waits for an event or for the end of a capture
  bool collecting_ = false;  ///< garbage collection is on, so searches are counted
  bool tracing_ = false;
  std::uint32_t expandable_segments_ = 0;
  PoolPair default_;
  std::vector<Scope> scopes_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  AddressMap handed_out_;
  BlockSlab slab_;
  Stats stats_;

  SegmentTable segments_;
  std::vector<std::uint32_t> unused_lanes_;
  std::uint64_t reserved_ = 0;
  std::uint64_t limit_ = kUnlimited;

  std::map<PoolId, std::unique_ptr<PrivatePool>> private_pools_;
  std::vector<PrivatePool*> freeable_;
  std::map<PoolId, PooledCounter> private_reserved_;

  std::vector<SideQueue> queues_;
  std::vector<Block*> waiting_blocks_;  ///< in order of their free, with a CompletionSource
  std::vector<Block*> deferred_;        ///< freed in a capture
  std::size_t pending_ = 0;

  Failure last_failure_;
  TraceBuffer history_;
  bool recording_ = false;
  std::uint32_t skipped_actions_ = 0;
  TraceSink* sink_ = nullptr;

  device::Driver& driver_;
  int device_;
  device::DeviceInfo info_;
  VersionProfile profile_;
  Settings settings_;
  ProcessCounters own_counters_;
  ProcessCounters* counters_;
  CompletionSource* completions_;
  CaptureTopology* topology_;
  LockBreak* lock_break_;
  std::int64_t (*unix_time_us_)();
};

}  // namespace ebb::cache
