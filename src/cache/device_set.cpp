// SPDX-License-Identifier: Apache-2.0
#include "cache/device_set.h"

namespace ebb::cache {

base::Result<std::unique_ptr<DeviceSet>> DeviceSet::create(device::Driver& driver,
                                                           CoreOptions options) {
  std::unique_ptr<DeviceSet> set(new DeviceSet);
  options.counters = &set->counters_;
  for (int device = 0; device < driver.device_count(); ++device) {
    auto allocator = Allocator::create(driver, device, options);
    if (!allocator) return allocator.error();
    set->allocators_.push_back(std::move(*allocator));
  }
  return set;
}

base::Status DeviceSet::empty_cache() {
  base::Status first;
  for (const auto& allocator : allocators_) {
    base::Status status = allocator->empty_cache();
    if (first && !status) first = status;
  }
  return first;
}

base::Status DeviceSet::apply(std::string_view settings) {
  // The same string gives the same result on every device, so the first one decides.
  for (const auto& allocator : allocators_) {
    if (base::Status status = allocator->apply(settings); !status) return status;
  }
  return {};
}

void DeviceSet::record_history(const HistoryOptions& options) {
  for (const auto& allocator : allocators_) {
    allocator->record_history(options);
  }
}

Snapshot DeviceSet::snapshot() {
  Snapshot snapshot;
  for (const auto& allocator : allocators_) {
    allocator->add_to(snapshot);
  }
  return snapshot;
}

}  // namespace ebb::cache
