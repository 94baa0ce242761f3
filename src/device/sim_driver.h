// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "device/address_space.h"
#include "device/call.h"
#include "device/driver.h"
#include "device/event_book.h"
#include "device/ledger.h"

namespace ebb::device {

struct SimOptions {
  int devices = 1;
  std::string name = "simulated device";
  std::uint64_t total_memory = 80 * base::kGiB;
  std::uint64_t used_by_others = 0;  ///< what is left for us is `total_memory` less this
  bool virtual_memory = true;
  std::uint64_t granularity = 2 * base::kMiB;
  AddressModel addresses = AddressModel::ascending();
  Completion events = Completion::at_once;
};

/// Which calls of a SimDriver fail. A call matches when its kind and its size do; of the matching
/// calls the first `after` succeed, the next `times` fail, and the rest succeed again.
struct Fault {
  std::optional<Call> call = std::nullopt;  ///< none: every kind
  std::uint64_t above = 0;                  ///< only calls for more bytes than this; 0: every size
  std::uint64_t after = 0;
  std::uint64_t times = std::numeric_limits<std::uint64_t>::max();
  base::Code code = base::Code::out_of_memory;
  std::int64_t native = 0;
};

/// Devices that are nothing but addresses: any number, any capacity, no memory behind them. For
/// replaying a card's history on a laptop, and for tests. Thread-safe.
class SimDriver final : public Driver {
 public:
  /// Asked before the address model; nothing means that the model decides. Called under the
  /// driver's lock.
  using Chooser = std::function<std::optional<Address>(std::uint64_t bytes)>;

  explicit SimDriver(SimOptions options);

  /// Lets `chooser` give addresses to allocate and reserve on `device`; they fail with
  /// Code::bad_input where one overlaps a range in use. Requires: a device.
  void choose_addresses(int device, Chooser chooser);

  /// The addresses of the next allocate and reserve calls on `device`, in this order, after those
  /// given before; then the model decides again. Replaces a chooser. Requires: a device.
  void script_addresses(int device, const std::vector<Address>& next);

  /// Scripted addresses not used yet. Requires: a device.
  std::size_t scripted_addresses_left(int device) const;

  void inject(Fault fault);
  void clear_faults();

  /// Makes events done, with Completion::by_hand; events of one stream in their order, so that
  /// earlier ones of its stream are done with `event`. Require: a device.
  base::Status complete_event(int device, EventId event);
  void complete_stream(int device, StreamId stream);

  /// What is_capturing answers. Requires: a device.
  void set_capturing(int device, StreamId stream, bool capturing);

  /// How often a call was made on any device, failed ones included.
  std::uint64_t calls(Call call) const;

  /// Bytes of segments and mapped pages. Requires: a device.
  std::uint64_t used(int device) const;

  const char* kind() const override { return "sim"; }
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
    Device(int index, const SimOptions& options);
    Ledger ledger;
    AddressSpace addresses;
    EventBook events;
    std::set<StreamId> capturing;
    Chooser chooser;
    std::deque<Address> script;
  };
  struct ActiveFault {
    Fault fault;
    std::uint64_t matched = 0;
  };

  base::Status begin(Call call, int device, std::uint64_t bytes) EBB_REQUIRES(mutex_);
  base::Result<Address> place(Device& device, std::uint64_t bytes) EBB_REQUIRES(mutex_);
  Device& at(int device) EBB_REQUIRES(mutex_);
  const Device& at(int device) const EBB_REQUIRES(mutex_);

  const SimOptions options_;
  mutable base::Mutex mutex_;
  std::vector<Device> devices_ EBB_GUARDED_BY(mutex_);
  std::vector<ActiveFault> faults_ EBB_GUARDED_BY(mutex_);
  std::array<std::uint64_t, kCallKinds> calls_ EBB_GUARDED_BY(mutex_) = {};
};

}  // namespace ebb::device
