// SPDX-License-Identifier: Apache-2.0
#include "device/mmap_driver.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <string>

namespace ebb::device {

using base::Code;
using base::Lock;
using base::Result;
using base::Status;

namespace {

void* pointer(Address address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

base::Error refused(int error_number, const char* what, std::uint64_t bytes) {
  const Code code = error_number == ENOMEM ? Code::out_of_memory : Code::io;
  base::Error error =
      base::system_error(error_number, "mmap: cannot %s %s", what, base::bytes_text(bytes).c_str());
  error.code = code;
  return error;
}

// `bytes` of fresh address space at a multiple of the granularity.
Result<Address> map_aligned(std::uint64_t bytes, int protection, int flags) {
  const std::uint64_t wanted = whole_pages(bytes);
  const std::uint64_t padded = wanted + MmapDriver::kGranularity;
  if (wanted < bytes || padded < wanted) return refused(ENOMEM, "map", bytes);
  void* start = mmap(nullptr, padded, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (start == MAP_FAILED) return refused(errno, "map", bytes);
  const Address first = reinterpret_cast<Address>(start);
  const Address aligned =
      (first + MmapDriver::kGranularity - 1) / MmapDriver::kGranularity * MmapDriver::kGranularity;
  // Trimming the ends of a mapping that nobody else knows cannot fail.
  if (aligned != first) EBB_CHECK(munmap(start, aligned - first) == 0);
  const Address end = aligned + wanted;
  if (end != first + padded) EBB_CHECK(munmap(pointer(end), first + padded - end) == 0);
  return aligned;
}

}  // namespace

MmapDriver::Device::Device(int index, const MmapOptions& options)
    : ledger({.where = "mmap device " + std::to_string(index),
              .capacity = options.capacity,
              .granularity = kGranularity}),
      events(index, options.events) {}

MmapDriver::MmapDriver(MmapOptions options) : options_(options) {
  EBB_CHECK(options_.devices >= 0);
  for (int device = 0; device < options_.devices; ++device) {
    devices_.emplace_back(device, options_);
  }
}

MmapDriver::~MmapDriver() {
  const Lock lock(mutex_);
  for (const Device& device : devices_) {
    for (const auto& [address, bytes] : device.ledger.segments()) {
      munmap(pointer(address), whole_pages(bytes));
    }
    for (const auto& [address, reservation] : device.ledger.reservations()) {
      munmap(pointer(address), reservation.bytes);
    }
  }
}

Status MmapDriver::check(int device) const {
  if (device >= 0 && device < options_.devices) return {};
  return base::error(Code::bad_input, "mmap: no device %d, there are %d", device, options_.devices);
}

MmapDriver::Device& MmapDriver::at(int device) {
  EBB_CHECK(device >= 0 && device < options_.devices);
  return devices_[static_cast<std::size_t>(device)];
}

void MmapDriver::complete_stream(int device, StreamId stream) {
  const Lock lock(mutex_);
  at(device).events.complete_stream(stream);
}

Result<DeviceInfo> MmapDriver::info(int device) {
  if (Status known = check(device); !known) return known.error();
  return DeviceInfo{.name = "host memory",
                    .total_memory = options_.capacity,
                    .virtual_memory = true,
                    .granularity = kGranularity};
}

Result<DeviceMemory> MmapDriver::memory(int device) {
  if (Status known = check(device); !known) return known.error();
  const Lock lock(mutex_);
  return DeviceMemory{.free = options_.capacity - at(device).ledger.used(),
                      .total = options_.capacity};
}

Result<Address> MmapDriver::allocate(int device, std::uint64_t bytes) {
  if (Status known = check(device); !known) return known.error();
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_allocate(bytes); !can) return can.error();
  auto address = map_aligned(bytes, PROT_READ | PROT_WRITE, 0);
  if (address) ledger.allocated(*address, bytes);
  return address;
}

Status MmapDriver::release(int device, Address address, std::uint64_t bytes) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_release(address, bytes); !can) return can;
  if (munmap(pointer(address), whole_pages(bytes)) != 0) return refused(errno, "unmap", bytes);
  ledger.released(address);
  return {};
}

Result<Address> MmapDriver::reserve(int device, std::uint64_t bytes) {
  if (Status known = check(device); !known) return known.error();
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_reserve(bytes); !can) return can.error();
  auto address = map_aligned(bytes, PROT_NONE, MAP_NORESERVE);
  if (address) ledger.reserved(*address, bytes);
  return address;
}

Status MmapDriver::unreserve(int device, Address address, std::uint64_t bytes) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_unreserve(address, bytes); !can) return can;
  if (munmap(pointer(address), bytes) != 0) return refused(errno, "unmap", bytes);
  ledger.unreserved(address);
  return {};
}

Status MmapDriver::map(int device, Address address, std::uint64_t page, std::uint64_t count) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_map(address, page, count); !can) return can;
  if (mprotect(pointer(address), page * count, PROT_READ | PROT_WRITE) != 0) {
    return refused(errno, "use", page * count);
  }
  ledger.mapped(address, page, count);
  return {};
}

Status MmapDriver::unmap(int device, Address address, std::uint64_t page, std::uint64_t count) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  Ledger& ledger = at(device).ledger;
  if (Status can = ledger.can_unmap(address, page, count); !can) return can;
  // A fresh mapping over the old one drops the pages, the protection and, under strict
  // overcommit, the commit charge, which MADV_DONTNEED with mprotect would keep.
  void* fresh = mmap(pointer(address), page * count, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (fresh == MAP_FAILED) return refused(errno, "unmap", page * count);
  ledger.unmapped(address, page, count);
  return {};
}

Result<EventId> MmapDriver::record_event(int device, StreamId stream) {
  if (Status known = check(device); !known) return known.error();
  const Lock lock(mutex_);
  return at(device).events.record(stream);
}

Result<bool> MmapDriver::event_done(int device, EventId event) {
  if (Status known = check(device); !known) return known.error();
  const Lock lock(mutex_);
  return at(device).events.done(event);
}

Status MmapDriver::wait_event(int device, EventId event) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  return at(device).events.complete(event);
}

Status MmapDriver::destroy_event(int device, EventId event) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  return at(device).events.destroy(event);
}

Status MmapDriver::synchronize_stream(int device, StreamId stream) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  at(device).events.complete_stream(stream);
  return {};
}

Status MmapDriver::synchronize(int device) {
  if (Status known = check(device); !known) return known;
  const Lock lock(mutex_);
  at(device).events.complete_all();
  return {};
}

Result<bool> MmapDriver::is_capturing(int device, StreamId) {
  if (Status known = check(device); !known) return known.error();
  return false;
}

}  // namespace ebb::device
