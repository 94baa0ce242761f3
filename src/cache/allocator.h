// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/core.h"
#include "cache/fast_mutex.h"
#include "cache/snapshot.h"
#include "cache/stats_keys.h"

namespace ebb::cache {

/// PyTorch's caching allocator for one device, thread-safe: one lock around `Core`, whose functions
/// these are.
class Allocator final : private LockBreak {
 public:
  /// `options.lock_break` is the allocator's own business. The driver outlives the allocator.
  static base::Result<std::unique_ptr<Allocator>> create(device::Driver& driver, int device,
                                                         CoreOptions options);

  /// The memory, or 0 and why in `failure`. 0 bytes give 0 and no failure.
  Address try_allocate(std::uint64_t bytes, StreamId stream, Failure* failure = nullptr);
  /// The same with PyTorch's message as the error.
  base::Result<Address> allocate(std::uint64_t bytes, StreamId stream);
  bool free(Address address);
  bool record_stream(Address address, StreamId stream);
  std::uint64_t size_of(Address address) const;
  MemoryRange segment_of(Address address) const;

  base::Status empty_cache();
  base::Status set_memory_fraction(double fraction);
  std::uint64_t limit() const;
  /// Reads a settings string; nothing changes when it is wrong.
  base::Status apply(std::string_view settings);
  void apply(const Settings& settings);
  Settings settings() const;

  PoolId next_pool_id(bool for_graph);
  base::Status retain_pool(PoolId id, const PrivatePoolOptions& options = {});
  base::Status release_pool(PoolId id);
  base::Status empty_pool(PoolId id);
  /// `filter` runs under the lock: it must not call the allocator.
  base::Status begin_scope(PoolId id, std::function<bool(StreamId)> filter);
  base::Status end_scope(PoolId id);
  void set_use_on_oom(PoolId id, bool on);
  int pool_uses(PoolId id) const;

  StatsTable memory_stats() const;
  Stats stats() const;
  std::uint64_t reserved() const;
  std::uint64_t largest_free() const;
  void reset_peaks();
  void reset_sums();
  /// torch.cuda.memory_summary().
  std::string memory_summary(bool abbreviated = false) const;

  void record_history(const HistoryOptions& options);
  Snapshot snapshot();
  /// The same as the next device of a snapshot.
  void add_to(Snapshot& snapshot);

  int device() const { return device_; }
  const VersionProfile& profile() const { return profile_; }
  const device::DeviceInfo& info() const { return info_; }

 private:
  Allocator() = default;
  Address fail(Failure* failure) EBB_RELEASE(mutex_);
  void leave() override EBB_RELEASE(mutex_) { mutex_.unlock(); }
  void enter() override EBB_ACQUIRE(mutex_) { mutex_.lock(); }

  int device_ = 0;
  VersionProfile profile_;
  device::DeviceInfo info_;
  mutable FastMutex mutex_;
  std::unique_ptr<Core> core_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::cache
