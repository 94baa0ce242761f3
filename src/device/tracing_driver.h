// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "device/call.h"
#include "device/driver.h"

namespace ebb::device {

/// One call that went through a TracingDriver.
struct CallRecord {
  Call call = Call::info;
  int device = 0;
  Address address = 0;      ///< given or returned; 0 where there is none
  std::uint64_t bytes = 0;  ///< of the segment, the reservation or all pages together
  std::uint64_t page = 0;   ///< map and unmap
  StreamId stream = 0;
  EventId event = 0;  ///< given or returned
  bool ok = true;
  base::Code code = base::Code::internal;  ///< when not ok
  std::int64_t nanoseconds = 0;
};

/// The calls of one kind.
struct CallTotals {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t bytes = 0;  ///< of the successful ones
  std::int64_t nanoseconds = 0;
};

/// Forwards to another driver and keeps what it saw, for counting driver calls and their time and
/// for tests. Adds nothing to a call but the recording; failures pass through unchanged.
/// Thread-safe; calls overlap as they would without it.
class TracingDriver final : public Driver {
 public:
  enum class Keep : std::uint8_t { totals, every_call };

  /// `inner` and `clock` must outlive this object.
  explicit TracingDriver(Driver& inner, Keep keep = Keep::every_call,
                         const base::Clock& clock = base::system_clock());

  /// In the order in which the calls returned; empty with Keep::totals.
  std::vector<CallRecord> records() const;
  CallTotals totals(Call call) const;
  void clear();

  /// The inner driver's word: what serves the memory.
  const char* kind() const override { return inner_.kind(); }
  int device_count() const override { return inner_.device_count(); }
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
  template <class Forward>
  auto traced(CallRecord record, Forward&& forward);
  void add(const CallRecord& record);

  Driver& inner_;
  const Keep keep_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::vector<CallRecord> records_ EBB_GUARDED_BY(mutex_);
  std::array<CallTotals, kCallKinds> totals_ EBB_GUARDED_BY(mutex_) = {};
};

}  // namespace ebb::device
