// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_driver.h"

#include <utility>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

using trace::Action;

/// Address space of expandable segments, far from everything the models give out.
constexpr Address kFirstRange = Address{1} << 60;

constexpr std::uint64_t kPage = 2 * base::kMiB;

// Microseconds of the calls on an H200: 43 to 130 for cudaMalloc and 33 to 752 for cudaFree, rising
// with the size; create, map and access 127 a page of 2 MiB and 39 one of 20 MiB; back 27 and 31.
constexpr double kMicro = 1e-6;
double gib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(base::kGiB);
}

}  // namespace

ReplayDriver::ReplayDriver(device::AddressModel model)
    : addresses_(model), next_range_(kFirstRange) {}

void ReplayDriver::add_event(Action action, std::uint64_t size) {
  if (keep_events) events_.push_back({requests, action, size});
}

void ReplayDriver::forget_calls() {
  calls_ = {};
  events_.clear();
}

base::Result<device::DeviceInfo> ReplayDriver::info(int) {
  device::DeviceInfo info;
  info.name = "replay";
  info.total_memory = kTotalMemory;
  info.virtual_memory = true;
  info.granularity = kPage;
  return info;
}

base::Result<device::DeviceMemory> ReplayDriver::memory(int) {
  return device::DeviceMemory{kTotalMemory, kTotalMemory};
}

base::Result<Address> ReplayDriver::allocate(int, std::uint64_t bytes) {
  std::optional<Address> chosen = std::exchange(forced_, std::nullopt);
  if (!chosen && chooser_) chosen = chooser_(bytes);
  if (!chosen || !addresses_.take_at(*chosen, bytes)) {
    auto address = addresses_.take(bytes);
    if (!address) return address.error();
    chosen = *address;
  }
  ++calls_.allocations;
  calls_.seconds += 43 * kMicro + 41 * kMicro * gib(bytes);
  add_event(Action::segment_alloc, bytes);
  return *chosen;
}

base::Status ReplayDriver::release(int, Address address, std::uint64_t bytes) {
  addresses_.give_back(address);
  ++calls_.releases;
  calls_.seconds += 33 * kMicro + 350 * kMicro * gib(bytes);
  add_event(Action::segment_free, bytes);
  return {};
}

base::Result<Address> ReplayDriver::reserve(int, std::uint64_t bytes) {
  if (forced_) return *std::exchange(forced_, std::nullopt);
  const Address address = next_range_;
  next_range_ += bytes;
  return address;
}

base::Status ReplayDriver::unreserve(int, Address, std::uint64_t) {
  return {};
}

base::Status ReplayDriver::map(int, Address, std::uint64_t page, std::uint64_t count) {
  ++calls_.maps;
  calls_.seconds += (page > kPage ? 39 : 127) * kMicro * static_cast<double>(count);
  add_event(Action::segment_map, page * count);
  return {};
}

base::Status ReplayDriver::unmap(int, Address, std::uint64_t page, std::uint64_t count) {
  ++calls_.unmaps;
  calls_.seconds += (page > kPage ? 31 : 27) * kMicro * static_cast<double>(count);
  add_event(Action::segment_unmap, page * count);
  return {};
}

base::Result<device::EventId> ReplayDriver::record_event(int, StreamId) {
  return device::EventId{1};
}
base::Result<bool> ReplayDriver::event_done(int, device::EventId) {
  return true;
}
base::Status ReplayDriver::wait_event(int, device::EventId) {
  return {};
}
base::Status ReplayDriver::destroy_event(int, device::EventId) {
  return {};
}
base::Status ReplayDriver::synchronize_stream(int, StreamId) {
  return {};
}
base::Status ReplayDriver::synchronize(int) {
  return {};
}
base::Result<bool> ReplayDriver::is_capturing(int, StreamId) {
  return false;
}

}  // namespace ebb::replay
