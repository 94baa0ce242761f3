// SPDX-License-Identifier: Apache-2.0
// What PyTorch calls: the functions of a CUDAPluggableAllocator, and of the allocator of a MemPool.
#include "base/log.h"
#include "capi/process_exception.h"
#include "capi/runtime.h"
#include "capi/torch_devices.h"
#include "capi/torch_shortage.h"

using namespace ebb;
using base::LogLevel;
using capi::fail;
using capi::guarded;
using capi::torch_devices;
using device::Address;
using device::StreamId;

namespace {

Address address_of(const void* memory) {
  return reinterpret_cast<Address>(memory);
}

void* pointer_to(Address address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

StreamId id_of(void* stream) {
  return reinterpret_cast<StreamId>(stream);
}

base::Error shortage(const cache::Failure& failure, const cache::Allocator& allocator) {
  base::Error error =
      cache::error_of(failure, allocator.profile(), allocator.settings().expandable_segments);
  if (failure.kind != cache::FailureKind::driver_error)
    error.message += " Ebb: " + cache::summary_of(failure);
  return error;
}

/// EBB_OK and the memory, null for 0 bytes. Apart from ebb_torch_alloc, see there.
[[gnu::noinline]] int serve(std::size_t bytes, int device, void* stream, void** memory) noexcept {
  *memory = nullptr;
  if (bytes == 0) return EBB_OK;
  try {
    cache::Allocator* allocator = torch_devices().ready(device);
    if (allocator == nullptr) [[unlikely]] {
      const auto made = torch_devices().at(device);
      if (!made) return fail(made.error());
      allocator = *made;
    }
    cache::Failure failure;
    const Address address = allocator->try_allocate(bytes, id_of(stream), &failure);
    if (address == 0) [[unlikely]] {
      capi::remember(failure);
      return fail(shortage(failure, *allocator));
    }
    *memory = pointer_to(address);
    return EBB_OK;
  } catch (const std::exception& exception) {
    return fail(base::error(base::Code::internal, "ebb_torch_alloc: %s", exception.what()));
  } catch (...) {
    return fail(base::error(base::Code::internal, "ebb_torch_alloc: an unknown exception"));
  }
}

bool give_back(const void* memory, int device) noexcept {
  try {
    cache::Allocator* allocator = torch_devices().ready(device);
    return allocator != nullptr && allocator->free(address_of(memory));
  } catch (...) {
    return false;
  }
}

/// For functions that PyTorch calls without a way to answer: a failure is one line in the log.
template <class Body>
void logged(const char* function, Body&& body) noexcept {
  const int code = guarded(body);
  if (code != EBB_OK) base::log(LogLevel::warning, "%s: %s", function, ebb_last_error());
}

}  // namespace

// No handlers and nothing to destroy here: the exception of another C++ runtime passes through.
void* ebb_torch_alloc(size_t size, int device, void* stream) {
  void* memory = nullptr;
  if (serve(size, device, stream, &memory) != EBB_OK) capi::throw_in_process(ebb_last_error());
  return memory;
}

void ebb_torch_begin_pool(void) {
  capi::throw_in_process(
      "Ebb as PyTorch's allocator does not keep private pools apart yet: memory of a CUDA graph or "
      "a "
      "MemPool could be handed out again. Capture graphs and use pools without "
      "ebb.torch.install()");
}

int ebb_torch_try_alloc(size_t size, int device, void* stream, void** memory) {
  if (memory == nullptr) return fail(base::error(base::Code::bad_input, "memory must not be null"));
  return serve(size, device, stream, memory);
}

void ebb_torch_free(void* memory, size_t /*size*/, int device, void* /*stream*/) {
  if (memory == nullptr || give_back(memory, device)) return;
  // A child may drop what it inherited; there is nothing of it to give back.
  if (torch_devices().forked()) return;
  logged("ebb_torch_free", [&] {
    return fail(base::error(
        base::Code::not_found,
        "%p on device %d is not in use: freed twice, or not from ebb_torch_alloc", memory, device));
  });
}

void ebb_torch_init(int device_count) {
  logged("ebb_torch_init", [&] {
    const auto driver = torch_devices().driver();
    if (!driver) return fail(driver.error());
    const int found = (*driver)->device_count();
    if (device_count <= found) return static_cast<int>(EBB_OK);
    return fail(base::error(base::Code::unavailable, "%d devices expected, the %s driver has %d",
                            device_count, (*driver)->kind(), found));
  });
}

void ebb_torch_reset(void) {
  logged("ebb_torch_reset", [] { return ebb_torch_empty_cache(); });
}

void ebb_torch_memory_fraction(double fraction, int device) {
  logged("ebb_torch_memory_fraction", [&] {
    const auto allocator = torch_devices().at(device);
    if (!allocator) return fail(allocator.error());
    const base::Status limited = (*allocator)->set_memory_fraction(fraction);
    return limited ? static_cast<int>(EBB_OK) : fail(limited.error());
  });
}

void ebb_torch_record_stream(void* memory, void* stream) {
  if (memory == nullptr) return;
  logged("ebb_torch_record_stream", [&] {
    // Nobody's memory is nobody's fault: PyTorch also passes tensors that came from elsewhere.
    torch_devices().for_each(
        [&](cache::Allocator& device) { device.record_stream(address_of(memory), id_of(stream)); });
    return static_cast<int>(EBB_OK);
  });
}

void* ebb_torch_base_alloc(void* memory, size_t* size) {
  void* base = memory;
  logged("ebb_torch_base_alloc", [&] {
    const Address address = address_of(memory);
    torch_devices().for_each([&](cache::Allocator& device) {
      const cache::MemoryRange segment = device.segment_of(address);
      if (segment.size == 0) return;
      base = pointer_to(segment.address);
      if (size != nullptr) *size = segment.size;
    });
    return static_cast<int>(EBB_OK);
  });
  return base;
}

void* ebb_torch_segment_alloc(size_t size, int device, void* /*stream*/) {
  void* memory = nullptr;
  guarded([&] {
    if (size == 0) return static_cast<int>(EBB_OK);
    const auto driver = torch_devices().driver();
    if (!driver) return fail(driver.error());
    const auto segment = (*driver)->allocate(device, size);
    if (!segment) return fail(segment.error());
    memory = pointer_to(*segment);
    return static_cast<int>(EBB_OK);
  });
  return memory;
}

void ebb_torch_segment_free(void* memory, size_t size, int device, void* /*stream*/) {
  if (memory == nullptr || torch_devices().forked()) return;
  logged("ebb_torch_segment_free", [&] {
    const auto driver = torch_devices().driver();
    if (!driver) return fail(driver.error());
    const base::Status released = (*driver)->release(device, address_of(memory), size);
    return released ? static_cast<int>(EBB_OK) : fail(released.error());
  });
}
