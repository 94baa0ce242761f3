// SPDX-License-Identifier: Apache-2.0
#include "device/sim_driver.h"

#include <cinttypes>
#include <utility>

namespace ebb::device {

using base::Code;
using base::Lock;
using base::Result;
using base::Status;

namespace {

std::string name_of_device(int device) {
  return "sim device " + std::to_string(device);
}

}  // namespace

SimDriver::Device::Device(int index, const SimOptions& options)
    : ledger({.where = name_of_device(index),
              .capacity = options.total_memory - options.used_by_others,
              .granularity = options.virtual_memory ? options.granularity : 0}),
      addresses(options.addresses),
      events(index, options.events) {}

SimDriver::SimDriver(SimOptions options) : options_(std::move(options)) {
  EBB_CHECK(options_.devices >= 0);
  EBB_CHECK(options_.used_by_others <= options_.total_memory);
  // Pages are placed by the ledger's rules, so a reservation has to start where they allow.
  EBB_CHECK(!options_.virtual_memory ||
            (options_.granularity != 0 && options_.addresses.step % options_.granularity == 0));
  for (int device = 0; device < options_.devices; ++device) {
    devices_.emplace_back(device, options_);
  }
}

SimDriver::Device& SimDriver::at(int device) {
  EBB_CHECK(device >= 0 && device < options_.devices);
  return devices_[static_cast<std::size_t>(device)];
}

const SimDriver::Device& SimDriver::at(int device) const {
  EBB_CHECK(device >= 0 && device < options_.devices);
  return devices_[static_cast<std::size_t>(device)];
}

void SimDriver::choose_addresses(int device, Chooser chooser) {
  const Lock lock(mutex_);
  at(device).script.clear();
  at(device).chooser = std::move(chooser);
}

void SimDriver::script_addresses(int device, const std::vector<Address>& next) {
  const Lock lock(mutex_);
  Device& target = at(device);
  target.chooser = nullptr;
  target.script.insert(target.script.end(), next.begin(), next.end());
}

std::size_t SimDriver::scripted_addresses_left(int device) const {
  const Lock lock(mutex_);
  return at(device).script.size();
}

void SimDriver::inject(Fault fault) {
  const Lock lock(mutex_);
  faults_.push_back({fault, 0});
}

void SimDriver::clear_faults() {
  const Lock lock(mutex_);
  faults_.clear();
}

Status SimDriver::complete_event(int device, EventId event) {
  const Lock lock(mutex_);
  return at(device).events.complete(event);
}

void SimDriver::complete_stream(int device, StreamId stream) {
  const Lock lock(mutex_);
  at(device).events.complete_stream(stream);
}

void SimDriver::set_capturing(int device, StreamId stream, bool capturing) {
  const Lock lock(mutex_);
  if (capturing) {
    at(device).capturing.insert(stream);
  } else {
    at(device).capturing.erase(stream);
  }
}

std::uint64_t SimDriver::calls(Call call) const {
  const Lock lock(mutex_);
  return calls_[index_of(call)];
}

std::uint64_t SimDriver::used(int device) const {
  const Lock lock(mutex_);
  return at(device).ledger.used();
}

Status SimDriver::begin(Call call, int device, std::uint64_t bytes) {
  ++calls_[index_of(call)];
  if (device < 0 || device >= options_.devices) {
    return base::error(Code::bad_input, "sim: no device %d, there are %d", device,
                       options_.devices);
  }
  for (ActiveFault& active : faults_) {
    const Fault& fault = active.fault;
    if (fault.call && *fault.call != call) continue;
    if (fault.above != 0 && bytes <= fault.above) continue;
    const std::uint64_t earlier = active.matched++;
    if (earlier < fault.after || earlier - fault.after >= fault.times) continue;
    base::Error failure = base::error(fault.code, "sim device %d: %s of %s fails as told", device,
                                      name_of(call), base::bytes_text(bytes).c_str());
    failure.native = fault.native;
    return failure;
  }
  return {};
}

Result<Address> SimDriver::place(Device& device, std::uint64_t bytes) {
  std::optional<Address> chosen;
  if (device.chooser) {
    chosen = device.chooser(bytes);
  } else if (!device.script.empty()) {
    chosen = device.script.front();
    device.script.pop_front();
  }
  if (!chosen) return device.addresses.take(bytes);
  if (Status taken = device.addresses.take_at(*chosen, bytes); !taken) return taken.error();
  return *chosen;
}

Result<DeviceInfo> SimDriver::info(int device) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::info, device, 0); !begun) return begun.error();
  return DeviceInfo{.name = options_.name,
                    .total_memory = options_.total_memory,
                    .virtual_memory = options_.virtual_memory,
                    .granularity = options_.virtual_memory ? options_.granularity : 0};
}

Result<DeviceMemory> SimDriver::memory(int device) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::memory, device, 0); !begun) return begun.error();
  const std::uint64_t taken = options_.used_by_others + at(device).ledger.used();
  return DeviceMemory{.free = options_.total_memory - taken, .total = options_.total_memory};
}

Result<Address> SimDriver::allocate(int device, std::uint64_t bytes) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::allocate, device, bytes); !begun) return begun.error();
  Device& target = at(device);
  if (Status can = target.ledger.can_allocate(bytes); !can) return can.error();
  auto address = place(target, bytes);
  if (address) target.ledger.allocated(*address, bytes);
  return address;
}

Status SimDriver::release(int device, Address address, std::uint64_t bytes) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::release, device, bytes); !begun) return begun;
  Device& target = at(device);
  if (Status can = target.ledger.can_release(address, bytes); !can) return can;
  target.ledger.released(address);
  target.addresses.give_back(address);
  return {};
}

Result<Address> SimDriver::reserve(int device, std::uint64_t bytes) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::reserve, device, bytes); !begun) return begun.error();
  Device& target = at(device);
  if (Status can = target.ledger.can_reserve(bytes); !can) return can.error();
  auto address = place(target, bytes);
  if (!address) return address;
  if (*address % options_.granularity != 0) {
    target.addresses.give_back(*address);
    return base::error(Code::bad_input,
                       "sim device %d: a reservation at 0x%" PRIx64
                       ", expected a multiple of %" PRIu64,
                       device, *address, options_.granularity);
  }
  target.ledger.reserved(*address, bytes);
  return address;
}

Status SimDriver::unreserve(int device, Address address, std::uint64_t bytes) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::unreserve, device, bytes); !begun) return begun;
  Device& target = at(device);
  if (Status can = target.ledger.can_unreserve(address, bytes); !can) return can;
  target.ledger.unreserved(address);
  target.addresses.give_back(address);
  return {};
}

Status SimDriver::map(int device, Address address, std::uint64_t page, std::uint64_t count) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::map, device, page * count); !begun) return begun;
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_map(address, page, count); !can) return can;
  ledger.mapped(address, page, count);
  return {};
}

Status SimDriver::unmap(int device, Address address, std::uint64_t page, std::uint64_t count) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::unmap, device, page * count); !begun) return begun;
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_unmap(address, page, count); !can) return can;
  ledger.unmapped(address, page, count);
  return {};
}

Result<EventId> SimDriver::record_event(int device, StreamId stream) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::record_event, device, 0); !begun) return begun.error();
  return at(device).events.record(stream);
}

Result<bool> SimDriver::event_done(int device, EventId event) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::event_done, device, 0); !begun) return begun.error();
  return at(device).events.done(event);
}

Status SimDriver::wait_event(int device, EventId event) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::wait_event, device, 0); !begun) return begun;
  return at(device).events.complete(event);
}

Status SimDriver::destroy_event(int device, EventId event) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::destroy_event, device, 0); !begun) return begun;
  return at(device).events.destroy(event);
}

Status SimDriver::synchronize_stream(int device, StreamId stream) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::synchronize_stream, device, 0); !begun) return begun;
  at(device).events.complete_stream(stream);
  return {};
}

Status SimDriver::synchronize(int device) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::synchronize, device, 0); !begun) return begun;
  at(device).events.complete_all();
  return {};
}

Result<bool> SimDriver::is_capturing(int device, StreamId stream) {
  const Lock lock(mutex_);
  if (Status begun = begin(Call::is_capturing, device, 0); !begun) return begun.error();
  return at(device).capturing.count(stream) != 0;
}

}  // namespace ebb::device
