// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

/// Where segments come from. Everything above asks a `Driver` for memory, never an operating
/// system or a vendor library; `device` itself includes nothing but `base`.
namespace ebb::device {

/// A place in a device's address space. Dereferenceable only where the driver's memory is the
/// host's (`mmap`).
using Address = std::uint64_t;

/// A stream as its owner's handle (a CUstream or cudaStream_t); 0 is the default stream.
using StreamId = std::uintptr_t;

/// A recorded event; 0 is none. Belongs to the device it was recorded on.
using EventId = std::uint64_t;

/// What never changes about a device.
struct DeviceInfo {
  std::string name;
  std::uint64_t total_memory = 0;  ///< bytes (the CUDA property totalGlobalMem)
  bool virtual_memory = false;     ///< whether reserve, unreserve, map and unmap work
  std::uint64_t granularity = 0;   ///< page sizes are multiples of it; 0 without virtual memory
};

/// What a device has left, for all processes together.
struct DeviceMemory {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

/// A source of device memory and of the events that say when a stream is done with it.
///
/// Called once per segment, not once per allocation. All kinds are thread-safe. Devices are
/// numbered from 0. Every call fails with
///  - Code::bad_input for a device, address, event or size that does not fit the call (nothing
///    changed then), and for a size of 0;
///  - Code::out_of_memory, with the sizes in the message, when the device is full;
///  - Code::unavailable when the kind cannot do it at all;
///  - Code::io for any other refusal of the device.
/// `Error::native` holds the vendor's or the kernel's own number. What was not given back goes with
/// the driver.
class Driver {
 public:
  virtual ~Driver() = default;

  /// One lower-case word: "sim", "mmap", "cuda".
  virtual const char* kind() const = 0;

  virtual int device_count() const = 0;
  virtual base::Result<DeviceInfo> info(int device) = 0;
  virtual base::Result<DeviceMemory> memory(int device) = 0;

  /// A plain segment: `bytes` of usable memory, aligned to 512 bytes or better.
  virtual base::Result<Address> allocate(int device, std::uint64_t bytes) = 0;

  /// Gives back a whole plain segment, with the address and the size it was asked for with. Waits
  /// for work that still uses it where the device does (CUDA does).
  virtual base::Status release(int device, Address address, std::uint64_t bytes) = 0;

  /// Address space without memory behind it. `bytes` is a multiple of the granularity; so is the
  /// address.
  virtual base::Result<Address> reserve(int device, std::uint64_t bytes) = 0;

  /// Gives back a whole reservation, none of whose pages is mapped.
  virtual base::Status unreserve(int device, Address address, std::uint64_t bytes) = 0;

  /// Puts memory behind `count` pages of `page` bytes each, from `address` on, inside one
  /// reservation, and makes them usable. `page` and `address` are multiples of the granularity; no
  /// page may be mapped already. All or nothing: on failure none of these pages is mapped.
  virtual base::Status map(int device, Address address, std::uint64_t page,
                           std::uint64_t count) = 0;

  /// Takes the memory from `count` pages again, each with the start and the `page` it was mapped
  /// with. Does not wait for work that uses them: see synchronize_stream. After Code::io some of
  /// them may be unmapped.
  virtual base::Status unmap(int device, Address address, std::uint64_t page,
                             std::uint64_t count) = 0;

  /// Marks the work queued on `stream` so far. The event is the caller's until destroy_event.
  virtual base::Result<EventId> record_event(int device, StreamId stream) = 0;

  /// Whether everything before the event is done; does not wait.
  virtual base::Result<bool> event_done(int device, EventId event) = 0;

  /// Returns when everything before the event is done.
  virtual base::Status wait_event(int device, EventId event) = 0;

  /// Forgets an event, done or not.
  virtual base::Status destroy_event(int device, EventId event) = 0;

  /// Returns when the stream's queued work is done.
  virtual base::Status synchronize_stream(int device, StreamId stream) = 0;

  /// Returns when all work on the device is done.
  virtual base::Status synchronize(int device) = 0;

  /// Whether a graph is being captured from the stream, so that nothing runs and no event of it
  /// will ever be done.
  virtual base::Result<bool> is_capturing(int device, StreamId stream) = 0;
};

}  // namespace ebb::device
