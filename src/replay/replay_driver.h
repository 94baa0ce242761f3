// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device/address_space.h"
#include "device/driver.h"
#include "replay/workload.h"

namespace ebb::replay {

using device::Address;
using device::StreamId;

/// How often the driver was called, and what that would cost on a card.
struct DriverCalls {
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  /// What the calls themselves take, from times measured on an H200 (docs/replay.md). Work on the
  /// device that a release waits for is not in it.
  double seconds = 0;

  std::uint64_t total() const { return allocations + releases + maps + unmaps; }
};

/// One device without memory, as large as anybody asks for: gives out addresses and writes down
/// what was asked of it. Limits are the allocator's business. For one thread.
class ReplayDriver final : public device::Driver {
 public:
  /// Where a plain segment should go; the model decides where there is no answer, or where that
  /// place is taken.
  using Chooser = std::function<std::optional<Address>(std::uint64_t bytes)>;

  static constexpr std::uint64_t kTotalMemory = std::uint64_t{1} << 42;

  explicit ReplayDriver(device::AddressModel model);

  /// The address of the next segment or range, whatever the chooser says.
  void place_next_at(Address address) { forced_ = address; }
  void choose_addresses(Chooser chooser) { chooser_ = std::move(chooser); }
  /// Counts allocations and frees of the job, for the events.
  std::uint64_t requests = 0;
  /// Whether events are kept; calls are always counted.
  bool keep_events = false;

  const std::vector<SegmentEvent>& events() const { return events_; }
  void add_event(trace::Action action, std::uint64_t size);
  const DriverCalls& calls() const { return calls_; }
  /// Begins to count and to write down anew.
  void forget_calls();

  const char* kind() const override { return "replay"; }
  int device_count() const override { return 1; }
  base::Result<device::DeviceInfo> info(int device) override;
  base::Result<device::DeviceMemory> memory(int device) override;
  base::Result<Address> allocate(int device, std::uint64_t bytes) override;
  base::Status release(int device, Address address, std::uint64_t bytes) override;
  base::Result<Address> reserve(int device, std::uint64_t bytes) override;
  base::Status unreserve(int device, Address address, std::uint64_t bytes) override;
  base::Status map(int device, Address address, std::uint64_t page, std::uint64_t count) override;
  base::Status unmap(int device, Address address, std::uint64_t page, std::uint64_t count) override;
  base::Result<device::EventId> record_event(int device, StreamId stream) override;
  base::Result<bool> event_done(int device, device::EventId event) override;
  base::Status wait_event(int device, device::EventId event) override;
  base::Status destroy_event(int device, device::EventId event) override;
  base::Status synchronize_stream(int device, StreamId stream) override;
  base::Status synchronize(int device) override;
  base::Result<bool> is_capturing(int device, StreamId stream) override;

 private:
  device::AddressSpace addresses_;
  Address next_range_;
  Chooser chooser_;
  std::optional<Address> forced_;
  std::vector<SegmentEvent> events_;
  DriverCalls calls_;
};

}  // namespace ebb::replay
