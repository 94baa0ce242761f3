// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "base/fork.h"
#include "base/result.h"
#include "cache/allocator.h"
#include "device/driver.h"

namespace ebb::capi {

/// The devices that PyTorch's calls are served from: one driver, and one allocator per device, made
/// on first use as the environment says. Neither is ever destroyed, since PyTorch frees tensors
/// until the very end of the process. In a forked child of a process that used it, every call
/// fails: device memory does not survive a fork. Thread-safe.
class TorchDevices {
 public:
  static constexpr int kMost = 64;

  /// The allocator of a device that is in use already; null for any other number.
  cache::Allocator* ready(int device) const noexcept {
    if (device < 0 || device >= kMost) return nullptr;
    return allocators_[static_cast<std::size_t>(device)].load(std::memory_order_acquire);
  }

  /// The same, made if need be. Code::bad_input for a device that is not there and for settings
  /// that cannot be read, Code::unavailable without a driver and in a forked child.
  base::Result<cache::Allocator*> at(int device) EBB_EXCLUDES(mutex_);

  /// Opened if need be; lives for ever.
  base::Result<device::Driver*> driver() EBB_EXCLUDES(mutex_);

  /// Calls `visit(allocator)` for the devices in use, lowest first.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (int device = 0; device < kMost; ++device) {
      if (cache::Allocator* allocator = ready(device)) visit(*allocator);
    }
  }

  /// Gives unused segments of all devices back; the first failure, after trying them all.
  base::Status empty_caches() const;

  /// For the devices in use and those to come.
  void record_history(const cache::HistoryOptions& options) EBB_EXCLUDES(mutex_);

  /// The devices up to the highest in use, as PyTorch lists them.
  base::Result<cache::Snapshot> snapshot() EBB_EXCLUDES(mutex_);

  /// Whether this process is a child of one that used device memory.
  bool forked() const { return forked_.load(std::memory_order_relaxed); }

  /// From now on as in such a child: for one that was forked at a moment nobody knows about. Takes
  /// no lock.
  void forget();

 private:
  base::Status open() EBB_REQUIRES(mutex_);
  static void after_fork_in_child(void* self);

  std::unique_ptr<device::Driver> driver_ EBB_GUARDED_BY(mutex_);
  cache::CoreOptions options_ EBB_GUARDED_BY(mutex_);
  std::optional<cache::HistoryOptions> history_ EBB_GUARDED_BY(mutex_);
  cache::ProcessCounters counters_;
  std::array<std::atomic<cache::Allocator*>, kMost> allocators_ = {};
  std::atomic<bool> forked_{false};
  base::ForkMutex mutex_{5, after_fork_in_child, this};
};

/// The process's own.
TorchDevices& torch_devices();

}  // namespace ebb::capi
