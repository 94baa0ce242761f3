// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "device/driver.h"
#include "device/event_book.h"
#include "device/ledger.h"

namespace ebb::device {

struct MmapOptions {
  std::uint64_t capacity = 0;  ///< bytes each device may hold; also what info and memory report
  int devices = 1;             ///< all of them the same host memory, each with its own capacity
  Completion events = Completion::at_once;
};

/// Host memory as a device: addresses are pointers, so that allocators serve real memory without a
/// GPU. Memory is zero when it is handed out and resident only once it is touched; what was
/// released or unmapped leaves the process at once. Streams are mere names: work on a host is done
/// when the call returns. Thread-safe.
class MmapDriver final : public Driver {
 public:
  /// Addresses of segments and reservations, and page sizes, are multiples of it: one huge page.
  static constexpr std::uint64_t kGranularity = 2 * base::kMiB;

  explicit MmapDriver(MmapOptions options);
  ~MmapDriver() override;
  MmapDriver(const MmapDriver&) = delete;
  MmapDriver& operator=(const MmapDriver&) = delete;

  /// Makes the events of a stream done (Completion::by_hand). Requires: a device.
  void complete_stream(int device, StreamId stream);

  const char* kind() const override { return "mmap"; }
  int device_count() const override { return options_.devices; }
  base::Result<DeviceInfo> info(int device) override;
  base::Result<DeviceMemory> memory(int device) override;
  base::Result<Address> allocate(int device, std::uint64_t bytes) override;
  base::Status release(int device, Address address, std::uint64_t bytes) override;
  base::Result<Address> reserve(int device, std::uint64_t bytes) override;
  base::Status unreserve(int device, Address address, std::uint64_t bytes) override;
  base::Status map(int device, Address address, std::uint64_t page, std::uint64_t count) override;
  base::Status unmap(int device, Address address, std::uint64_t page, std::uint64_t count) override;
  base::Result<EventId> record_event(int device, StreamId stream) override;
  base::Result<bool> event_done(int device, EventId event) override;
  base::Status wait_event(int device, EventId event) override;
  base::Status destroy_event(int device, EventId event) override;
  base::Status synchronize_stream(int device, StreamId stream) override;
  base::Status synchronize(int device) override;
  base::Result<bool> is_capturing(int device, StreamId stream) override;

 private:
  struct Device {
    Device(int index, const MmapOptions& options);
    Ledger ledger;
    EventBook events;
  };

  base::Status check(int device) const;
  Device& at(int device) EBB_REQUIRES(mutex_);

  const MmapOptions options_;
  base::Mutex mutex_;
  std::vector<Device> devices_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::device
