// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.h"

#include <array>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "device/cuda_device.h"

namespace ebb::device {

using base::Code;
using base::Lock;
using base::Result;
using base::Status;

CudaDriver::CudaDriver(cuda::Api api) : api_(std::move(api)) {}

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const std::string& library) {
  auto api = cuda::Api::load(library);
  if (!api) return std::move(api).error();
  std::unique_ptr<CudaDriver> driver(new CudaDriver(std::move(*api)));
  for (int device = 0; device < driver->device_count(); ++device) {
    driver->devices_.push_back(std::make_unique<Device>(device));
    if (Status described = driver->describe(device); !described) return described.error();
  }
  return driver;
}

CudaDriver::~CudaDriver() {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    Device& ours = *devices_[device];
    {
      const Lock lock(ours.context_mutex);
      if (ours.context == nullptr) continue;
    }
    // At process exit the driver may be gone already; then every call fails and nothing is lost.
    if (auto entered = enter(static_cast<int>(device)); entered) give_everything_back(ours);
    api_.cuDevicePrimaryCtxRelease(ours.handle);
  }
}

void CudaDriver::give_everything_back(Device& device) {
  api_.cuCtxSynchronize();  // unmapping does not wait for work that still uses the pages
  {
    const Lock lock(device.memory_mutex);
    for (const auto& [address, bytes] : device.ledger.segments()) {
      api_.cuMemFree(address);
    }
    for (const auto& [address, reservation] : device.ledger.reservations()) {
      for (const auto& [page, bytes] : reservation.pages) {
        api_.cuMemUnmap(page, bytes);
      }
      api_.cuMemAddressFree(address, reservation.bytes);
    }
  }
  const Lock lock(device.event_mutex);
  for (const auto& [id, event] : device.events) {
    api_.cuEventDestroy(event);
  }
  for (cuda::Event event : device.idle_events) {
    api_.cuEventDestroy(event);
  }
}

Status CudaDriver::describe(int device) {
  Device& ours = at(device);
  if (auto result = api_.cuDeviceGet(&ours.handle, device); result != cuda::kSuccess) {
    return failed(result, device, "cuDeviceGet");
  }
  std::array<char, 256> name = {};
  if (auto result = api_.cuDeviceGetName(name.data(), static_cast<int>(name.size()), ours.handle);
      result != cuda::kSuccess) {
    return failed(result, device, "cuDeviceGetName");
  }
  ours.info.name = name.data();
  std::size_t total = 0;
  if (auto result = api_.cuDeviceTotalMem(&total, ours.handle); result != cuda::kSuccess) {
    return failed(result, device, "cuDeviceTotalMem");
  }
  ours.info.total_memory = total;

  int supported = 0;
  int rdma = 0;
  if (auto result =
          api_.cuDeviceGetAttribute(&supported, cuda::kAttributeVirtualMemory, ours.handle);
      result != cuda::kSuccess) {
    return failed(result, device, "cuDeviceGetAttribute");
  }
  // Network cards read pages only where they were created for it; PyTorch asks for it too.
  if (api_.cuDeviceGetAttribute(&rdma, cuda::kAttributeRdmaVirtualMemory, ours.handle) !=
      cuda::kSuccess) {
    rdma = 0;
  }
  ours.properties.location.id = ours.handle;
  ours.properties.gpu_direct_rdma_capable = rdma != 0 ? 1 : 0;
  if (supported != 0) {
    std::size_t granularity = 0;
    if (auto result = api_.cuMemGetAllocationGranularity(&granularity, &ours.properties,
                                                         cuda::kGranularityMinimum);
        result != cuda::kSuccess) {
      return failed(result, device, "cuMemGetAllocationGranularity");
    }
    ours.info.virtual_memory = true;
    ours.info.granularity = granularity;
  }
  const Lock lock(ours.memory_mutex);
  ours.ledger = Ledger({.where = ours.name,
                        .capacity = std::numeric_limits<std::uint64_t>::max(),
                        .granularity = ours.info.granularity});
  return {};
}

base::Error CudaDriver::failed(cuda::Result result, int device, const char* call) const {
  return api_.error(result, "cuda device " + std::to_string(device) + ": " + call);
}

base::Error CudaDriver::failed(cuda::Result result, int device, const char* call,
                               std::uint64_t bytes) const {
  std::string what = std::string(call) + " of " + base::bytes_text(bytes);
  std::size_t free = 0;
  std::size_t total = 0;
  if (result == cuda::kOutOfMemory && api_.cuMemGetInfo(&free, &total) == cuda::kSuccess) {
    what += " with " + base::bytes_text(free) + " of " + base::bytes_text(total) + " left";
  }
  return failed(result, device, what.c_str());
}

Result<CudaDriver::InContext> CudaDriver::enter(int device) {
  if (device < 0 || device >= device_count()) {
    return base::error(Code::bad_input, "cuda: no device %d, there are %d", device, device_count());
  }
  Device& ours = at(device);
  cuda::Context context = nullptr;
  {
    const Lock lock(ours.context_mutex);
    if (ours.context == nullptr) {
      if (auto result = api_.cuDevicePrimaryCtxRetain(&ours.context, ours.handle);
          result != cuda::kSuccess) {
        ours.context = nullptr;
        return failed(result, device, "cuDevicePrimaryCtxRetain");
      }
    }
    context = ours.context;
  }
  if (auto result = api_.cuCtxPushCurrent(context); result != cuda::kSuccess) {
    return failed(result, device, "cuCtxPushCurrent");
  }
  return InContext(api_);
}

Result<DeviceInfo> CudaDriver::info(int device) {
  if (device < 0 || device >= device_count()) {
    return base::error(Code::bad_input, "cuda: no device %d, there are %d", device, device_count());
  }
  return at(device).info;
}

Result<DeviceMemory> CudaDriver::memory(int device) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  std::size_t free = 0;
  std::size_t total = 0;
  if (auto result = api_.cuMemGetInfo(&free, &total); result != cuda::kSuccess) {
    return failed(result, device, "cuMemGetInfo");
  }
  return DeviceMemory{.free = free, .total = total};
}

Result<Address> CudaDriver::allocate(int device, std::uint64_t bytes) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_allocate(bytes); !can) return can.error();
  cuda::Pointer pointer = 0;
  if (auto result = api_.cuMemAlloc(&pointer, bytes); result != cuda::kSuccess) {
    return failed(result, device, "cuMemAlloc", bytes);
  }
  ours.ledger.allocated(pointer, bytes);
  return pointer;
}

Status CudaDriver::release(int device, Address address, std::uint64_t bytes) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_release(address, bytes); !can) return can;
  if (auto result = api_.cuMemFree(address); result != cuda::kSuccess) {
    return failed(result, device, "cuMemFree", bytes);
  }
  ours.ledger.released(address);
  return {};
}

Result<Address> CudaDriver::reserve(int device, std::uint64_t bytes) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_reserve(bytes); !can) return can.error();
  cuda::Pointer pointer = 0;
  if (auto result = api_.cuMemAddressReserve(&pointer, bytes, ours.info.granularity, 0, 0);
      result != cuda::kSuccess) {
    return failed(result, device, "cuMemAddressReserve", bytes);
  }
  ours.ledger.reserved(pointer, bytes);
  return pointer;
}

Status CudaDriver::unreserve(int device, Address address, std::uint64_t bytes) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_unreserve(address, bytes); !can) return can;
  if (auto result = api_.cuMemAddressFree(address, bytes); result != cuda::kSuccess) {
    return failed(result, device, "cuMemAddressFree", bytes);
  }
  ours.ledger.unreserved(address);
  return {};
}

cuda::Result CudaDriver::back(const Device& device, Address address, std::uint64_t page) const {
  cuda::Handle handle = 0;
  if (auto result = api_.cuMemCreate(&handle, page, &device.properties, 0);
      result != cuda::kSuccess) {
    return result;
  }
  const cuda::Result mapped = api_.cuMemMap(address, page, 0, handle, 0);
  // The mapping keeps the memory; without the handle, unmapping frees it.
  const cuda::Result released = api_.cuMemRelease(handle);
  if (mapped != cuda::kSuccess || released == cuda::kSuccess) return mapped;
  api_.cuMemUnmap(address, page);
  return released;
}

Status CudaDriver::map(int device, Address address, std::uint64_t page, std::uint64_t count) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_map(address, page, count); !can) return can;
  cuda::Result result = cuda::kSuccess;
  std::uint64_t backed = 0;
  while (backed < count && result == cuda::kSuccess) {
    result = back(ours, address + backed * page, page);
    if (result == cuda::kSuccess) ++backed;
  }
  if (result == cuda::kSuccess) {
    const cuda::AccessDescription access{.location = ours.properties.location};
    result = api_.cuMemSetAccess(address, page * count, &access, 1);
  }
  if (result == cuda::kSuccess) {
    ours.ledger.mapped(address, page, count);
    return {};
  }
  while (backed > 0) {
    --backed;
    api_.cuMemUnmap(address + backed * page, page);
  }
  return failed(result, device, "mapping", page * count);
}

Status CudaDriver::unmap(int device, Address address, std::uint64_t page, std::uint64_t count) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.memory_mutex);
  if (Status can = ours.ledger.can_unmap(address, page, count); !can) return can;
  // One call per page: the driver wants each mapping unmapped as it was mapped.
  for (std::uint64_t i = 0; i < count; ++i) {
    if (auto result = api_.cuMemUnmap(address + i * page, page); result != cuda::kSuccess) {
      return failed(result, device, "cuMemUnmap", page);
    }
    ours.ledger.unmapped(address + i * page, page, 1);
  }
  return {};
}

}  // namespace ebb::device
