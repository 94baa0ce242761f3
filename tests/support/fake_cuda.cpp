// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for machines without a GPU: memory. Host memory lies behind every address, and
// misuse gets the answers of the real library (conformance/cuda_semantics.h compares the two).
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "support/fake_cuda_state.h"

namespace ebb::fake_cuda {

Memory::Memory(std::size_t size, cuda::Device owner, int descriptor)
    : bytes(size), device(owner), file(descriptor) {
  state().devices[device].used += bytes;
}

Memory::~Memory() {
  close(file);
  state().devices[device].used -= bytes;
}

State& state() {
  static State only;
  return only;
}

cuda::Result State::begin(const char* function) {
  ++calls[function];
  if (const auto found = faults.find(function); found != faults.end()) {
    Fault& fault = found->second;
    if (fault.after > 0) {
      --fault.after;
    } else if (fault.times > 0) {
      --fault.times;
      return fault.result;
    }
  }
  const bool before_init = std::strcmp(function, "cuInit") == 0;
  return initialised || before_init ? cuda::kSuccess : cuda::kNotInitialized;
}

namespace {

void* pointer(cuda::Pointer address) {
  return reinterpret_cast<void*>(address);
}

bool fits(const DeviceState& device, std::size_t bytes) {
  return bytes <= device.total - device.used;
}

bool is_granular(std::uint64_t value) {
  return value % kGranularity == 0;
}

/// The bytes from `start` on that lie in one reservation, 0 outside.
std::size_t reserved_from(const State& all, cuda::Pointer start) {
  const auto after = all.reservations.upper_bound(start);
  if (after == all.reservations.begin()) return 0;
  const auto& [first, bytes] = *std::prev(after);
  return start < first + bytes ? first + bytes - start : 0;
}

struct Covered {
  std::size_t bytes = 0;   // mapped bytes inside the range
  bool cut = false;        // a mapping lies partly outside it
  bool accessible = true;  // all of them
};

Covered covered(const State& all, cuda::Pointer start, std::size_t bytes) {
  Covered sum;
  const cuda::Pointer end = start + bytes;
  for (const auto& [first, mapping] : all.mappings) {
    const cuda::Pointer last = first + mapping.memory->bytes;
    if (last <= start || end <= first) continue;
    sum.cut = sum.cut || first < start || last > end;
    sum.bytes += std::min(last, end) - std::max(first, start);
    sum.accessible = sum.accessible && mapping.accessible;
  }
  return sum;
}

bool usable(const State& all, cuda::Pointer start, std::size_t bytes) {
  const auto after = all.allocations.upper_bound(start);
  if (after != all.allocations.begin()) {
    const auto& [first, allocation] = *std::prev(after);
    if (start + bytes <= first + allocation.bytes) return true;
  }
  const Covered found = covered(all, start, bytes);
  return found.bytes == bytes && found.accessible;
}

void* map_aligned(std::size_t bytes, int protection) {
  const std::size_t padded = bytes + kGranularity;
  void* start =
      mmap(nullptr, padded, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<cuda::Pointer>(start);
  const cuda::Pointer aligned = (first + kGranularity - 1) / kGranularity * kGranularity;
  if (aligned != first) munmap(start, aligned - first);
  if (aligned + bytes != first + padded)
    munmap(pointer(aligned + bytes), first + padded - aligned - bytes);
  return pointer(aligned);
}

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

void drop_allocation(State& all, std::map<cuda::Pointer, Allocation>::iterator found) {
  all.devices[found->second.device].used -= found->second.bytes;
  munmap(pointer(found->first), whole_pages(found->second.bytes));
  all.allocations.erase(found);
}

}  // namespace

void destroy_context(State& all, DeviceState& device) {
  const cuda::Device index = device.context.device;
  for (auto next = all.allocations.begin(); next != all.allocations.end();) {
    const auto found = next++;
    if (found->second.device == index) drop_allocation(all, found);
  }
  std::erase_if(all.streams, [&](const auto& entry) { return entry.second->device == index; });
  std::erase_if(all.events, [&](const auto& entry) { return entry.second->device == index; });
}

void State::reset() {
  mappings.clear();
  handles.clear();
  for (const auto& [address, bytes] : reservations) {
    munmap(pointer(address), bytes);
  }
  reservations.clear();
  for (DeviceState& device : devices) {
    destroy_context(*this, device);
    device.context.retained = 0;
  }
  faults.clear();
  calls.clear();
  virtual_memory = true;
  initialised = false;
}

}  // namespace ebb::fake_cuda

using namespace ebb::device::cuda;
using namespace ebb::fake_cuda;

FAKE_CUDA_EXPORT Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CUDA_BEGIN(cuMemGetInfo);
  const DeviceState* device = all.current();
  if (device == nullptr) return kInvalidContext;
  *free = device->total - device->used;
  *total = device->total;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemAlloc_v2(Pointer* address, std::size_t bytes) {
  FAKE_CUDA_BEGIN(cuMemAlloc);
  DeviceState* device = all.current();
  if (device == nullptr) return kInvalidContext;
  if (!all.unsafe_call_allowed()) return kStreamCaptureUnsupported;
  if (bytes == 0) return kInvalidValue;
  if (!fits(*device, bytes)) return kOutOfMemory;
  void* start = map_aligned(whole_pages(bytes), PROT_READ | PROT_WRITE);
  if (start == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<Pointer>(start);
  all.allocations[*address] = {bytes, device->context.device};
  device->used += bytes;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemFree_v2(Pointer address) {
  FAKE_CUDA_BEGIN(cuMemFree);
  if (all.current() == nullptr) return kInvalidContext;
  if (!all.unsafe_call_allowed()) return kStreamCaptureUnsupported;
  if (address == 0) return kSuccess;
  const auto found = all.allocations.find(address);
  if (found == all.allocations.end()) return kInvalidValue;
  drop_allocation(all, found);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t bytes) {
  FAKE_CUDA_BEGIN(cuMemcpyHtoD);
  if (all.current() == nullptr) return kInvalidContext;
  if (!usable(all, to, bytes)) return kInvalidValue;
  std::memcpy(pointer(to), from, bytes);
  all.flag_changed.notify_all();
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
  FAKE_CUDA_BEGIN(cuMemcpyDtoH);
  if (all.current() == nullptr) return kInvalidContext;
  if (!usable(all, from, bytes)) return kInvalidValue;
  std::memcpy(to, pointer(from), bytes);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemGetAllocationGranularity(std::size_t* granularity,
                                                      const AllocationProperties* properties, int) {
  FAKE_CUDA_BEGIN(cuMemGetAllocationGranularity);
  if (!all.virtual_memory) return kNotSupported;
  if (properties->location.id < 0 || properties->location.id >= FAKE_CUDA_DEVICES) {
    return kInvalidDevice;
  }
  *granularity = kGranularity;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemAddressReserve(Pointer* address, std::size_t bytes,
                                            std::size_t alignment, Pointer,
                                            unsigned long long flags) {
  FAKE_CUDA_BEGIN(cuMemAddressReserve);
  if (!all.virtual_memory) return kNotSupported;
  if (bytes == 0 || !is_granular(bytes) || flags != 0) return kInvalidValue;
  if (alignment > kGranularity) return kNotSupported;  // the fake aligns to its granularity only
  void* start = map_aligned(bytes, PROT_NONE);
  if (start == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<Pointer>(start);
  all.reservations[*address] = bytes;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemAddressFree(Pointer address, std::size_t bytes) {
  FAKE_CUDA_BEGIN(cuMemAddressFree);
  const auto found = all.reservations.find(address);
  if (found == all.reservations.end() || found->second != bytes) return kInvalidValue;
  if (covered(all, address, bytes).bytes != 0) return kInvalidValue;
  munmap(pointer(address), bytes);
  all.reservations.erase(found);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemCreate(Handle* handle, std::size_t bytes,
                                    const AllocationProperties* properties,
                                    unsigned long long flags) {
  FAKE_CUDA_BEGIN(cuMemCreate);
  if (!all.virtual_memory) return kNotSupported;
  if (bytes == 0 || !is_granular(bytes) || flags != 0) return kInvalidValue;
  if (properties->type != kAllocationPinned || properties->location.type != kLocationDevice) {
    return kInvalidValue;
  }
  const Device index = properties->location.id;
  if (index < 0 || index >= FAKE_CUDA_DEVICES) return kInvalidDevice;
  if (!fits(all.devices[index], bytes)) return kOutOfMemory;
  const int file = memfd_create("fake-cuda", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) close(file);
    return kOutOfMemory;
  }
  *handle = ++all.last_handle;
  all.handles[*handle] = std::make_shared<Memory>(bytes, index, file);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemRelease(Handle handle) {
  FAKE_CUDA_BEGIN(cuMemRelease);
  return all.handles.erase(handle) == 1 ? kSuccess : kInvalidValue;
}

#ifndef FAKE_CUDA_WITHOUT_MAP
FAKE_CUDA_EXPORT Result cuMemMap(Pointer address, std::size_t bytes, std::size_t offset,
                                 Handle handle, unsigned long long flags) {
  FAKE_CUDA_BEGIN(cuMemMap);
  const auto found = all.handles.find(handle);
  if (found == all.handles.end() || flags != 0) return kInvalidValue;
  if (offset != 0 || bytes != found->second->bytes) return kNotSupported;
  if (!is_granular(address) || reserved_from(all, address) < bytes) return kInvalidValue;
  if (covered(all, address, bytes).bytes != 0) return kInvalidValue;
  if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second->file, 0) ==
      MAP_FAILED) {
    return kOutOfMemory;
  }
  all.mappings[address] = {found->second, false};
  return kSuccess;
}
#endif

FAKE_CUDA_EXPORT Result cuMemUnmap(Pointer address, std::size_t bytes) {
  FAKE_CUDA_BEGIN(cuMemUnmap);
  if (bytes == 0 || !is_granular(address) || !is_granular(bytes)) return kInvalidValue;
  if (reserved_from(all, address) < bytes) return kInvalidValue;
  if (covered(all, address, bytes).cut) return kInvalidValue;
  mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
  all.mappings.erase(all.mappings.lower_bound(address), all.mappings.lower_bound(address + bytes));
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemSetAccess(Pointer address, std::size_t bytes,
                                       const AccessDescription* descriptions, std::size_t count) {
  FAKE_CUDA_BEGIN(cuMemSetAccess);
  if (count != 1 || descriptions->flags != kAccessReadWrite) return kInvalidValue;
  if (descriptions->location.id < 0 || descriptions->location.id >= FAKE_CUDA_DEVICES) {
    return kInvalidDevice;
  }
  const Covered found = covered(all, address, bytes);
  if (bytes == 0 || found.cut || found.bytes != bytes) return kInvalidValue;
  if (mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE) != 0) return kOutOfMemory;
  const auto end = all.mappings.lower_bound(address + bytes);
  for (auto mapping = all.mappings.lower_bound(address); mapping != end; ++mapping) {
    mapping->second.accessible = true;
  }
  return kSuccess;
}
