// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cache/allocator.h"

namespace ebb::cache {

/// The allocators of all devices of a driver, with what they share: settings, numbers of pools and
/// segments, snapshots. Thread-safe.
class DeviceSet {
 public:
  /// `options.counters` is the set's own. Fails when a device cannot be asked about.
  static base::Result<std::unique_ptr<DeviceSet>> create(device::Driver& driver,
                                                         CoreOptions options);

  int size() const { return static_cast<int>(allocators_.size()); }
  /// Requires: 0 <= device < size().
  Allocator& operator[](int device) { return *allocators_[static_cast<std::size_t>(device)]; }

  /// On every device, even after one failed; the first error.
  base::Status empty_cache();
  /// Reads a settings string for all devices; nothing changes when it is wrong.
  base::Status apply(std::string_view settings);
  void record_history(const HistoryOptions& options);
  /// torch.cuda.memory._snapshot().
  Snapshot snapshot();

 private:
  DeviceSet() = default;

  ProcessCounters counters_;
  std::vector<std::unique_ptr<Allocator>> allocators_;
};

}  // namespace ebb::cache
