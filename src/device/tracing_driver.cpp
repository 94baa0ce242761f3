// SPDX-License-Identifier: Apache-2.0
#include "device/tracing_driver.h"

#include <type_traits>

namespace ebb::device {

using base::Lock;
using base::Result;
using base::Status;

TracingDriver::TracingDriver(Driver& inner, Keep keep, const base::Clock& clock)
    : inner_(inner), keep_(keep), clock_(clock) {}

std::vector<CallRecord> TracingDriver::records() const {
  const Lock lock(mutex_);
  return records_;
}

CallTotals TracingDriver::totals(Call call) const {
  const Lock lock(mutex_);
  return totals_[index_of(call)];
}

void TracingDriver::clear() {
  const Lock lock(mutex_);
  records_.clear();
  totals_ = {};
}

void TracingDriver::add(const CallRecord& record) {
  const Lock lock(mutex_);
  CallTotals& totals = totals_[index_of(record.call)];
  ++totals.calls;
  totals.failures += record.ok ? 0 : 1;
  totals.bytes += record.ok ? record.bytes : 0;
  totals.nanoseconds += record.nanoseconds;
  if (keep_ == Keep::every_call) records_.push_back(record);
}

template <class Forward>
auto TracingDriver::traced(CallRecord record, Forward&& forward) {
  const std::int64_t start = clock_.now_ns();
  auto result = forward();
  record.nanoseconds = clock_.now_ns() - start;
  record.ok = result.has_value();
  if (!record.ok) {
    record.code = result.error().code;
  } else if constexpr (std::is_same_v<decltype(result), Result<std::uint64_t>>) {
    // Address and EventId are one type; the call says which it is.
    (record.call == Call::record_event ? record.event : record.address) = *result;
  }
  add(record);
  return result;
}

Result<DeviceInfo> TracingDriver::info(int device) {
  return traced({.call = Call::info, .device = device}, [&] { return inner_.info(device); });
}

Result<DeviceMemory> TracingDriver::memory(int device) {
  return traced({.call = Call::memory, .device = device}, [&] { return inner_.memory(device); });
}

Result<Address> TracingDriver::allocate(int device, std::uint64_t bytes) {
  return traced({.call = Call::allocate, .device = device, .bytes = bytes},
                [&] { return inner_.allocate(device, bytes); });
}

Status TracingDriver::release(int device, Address address, std::uint64_t bytes) {
  return traced({.call = Call::release, .device = device, .address = address, .bytes = bytes},
                [&] { return inner_.release(device, address, bytes); });
}

Result<Address> TracingDriver::reserve(int device, std::uint64_t bytes) {
  return traced({.call = Call::reserve, .device = device, .bytes = bytes},
                [&] { return inner_.reserve(device, bytes); });
}

Status TracingDriver::unreserve(int device, Address address, std::uint64_t bytes) {
  return traced({.call = Call::unreserve, .device = device, .address = address, .bytes = bytes},
                [&] { return inner_.unreserve(device, address, bytes); });
}

Status TracingDriver::map(int device, Address address, std::uint64_t page, std::uint64_t count) {
  return traced({.call = Call::map,
                 .device = device,
                 .address = address,
                 .bytes = page * count,
                 .page = page},
                [&] { return inner_.map(device, address, page, count); });
}

Status TracingDriver::unmap(int device, Address address, std::uint64_t page, std::uint64_t count) {
  return traced({.call = Call::unmap,
                 .device = device,
                 .address = address,
                 .bytes = page * count,
                 .page = page},
                [&] { return inner_.unmap(device, address, page, count); });
}

Result<EventId> TracingDriver::record_event(int device, StreamId stream) {
  return traced({.call = Call::record_event, .device = device, .stream = stream},
                [&] { return inner_.record_event(device, stream); });
}

Result<bool> TracingDriver::event_done(int device, EventId event) {
  return traced({.call = Call::event_done, .device = device, .event = event},
                [&] { return inner_.event_done(device, event); });
}

Status TracingDriver::wait_event(int device, EventId event) {
  return traced({.call = Call::wait_event, .device = device, .event = event},
                [&] { return inner_.wait_event(device, event); });
}

Status TracingDriver::destroy_event(int device, EventId event) {
  return traced({.call = Call::destroy_event, .device = device, .event = event},
                [&] { return inner_.destroy_event(device, event); });
}

Status TracingDriver::synchronize_stream(int device, StreamId stream) {
  return traced({.call = Call::synchronize_stream, .device = device, .stream = stream},
                [&] { return inner_.synchronize_stream(device, stream); });
}

Status TracingDriver::synchronize(int device) {
  return traced({.call = Call::synchronize, .device = device},
                [&] { return inner_.synchronize(device); });
}

Result<bool> TracingDriver::is_capturing(int device, StreamId stream) {
  return traced({.call = Call::is_capturing, .device = device, .stream = stream},
                [&] { return inner_.is_capturing(device, stream); });
}

}  // namespace ebb::device
