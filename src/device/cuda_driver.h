// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda_api.h"
#include "device/driver.h"

namespace ebb::device {

/// NVIDIA GPUs through the CUDA driver, loaded at run time. Works in each device's primary
/// context, the one the CUDA runtime and PyTorch use, so that addresses, streams and events are
/// theirs too; the context is made when the device is first used. A call leaves the calling
/// thread's current context and capture mode as it found them. Calls during a graph capture are
/// not captured. Thread-safe.
class CudaDriver final : public Driver {
 public:
  /// Code::unavailable where there is no driver, no device or a driver that lacks a function.
  static base::Result<std::unique_ptr<CudaDriver>> open(
      const std::string& library = "libcuda.so.1");

  ~CudaDriver() override;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  const char* kind() const override { return "cuda"; }
  int device_count() const override { return api_.device_count(); }
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
  struct Device;
  class InContext;

  explicit CudaDriver(cuda::Api api);
  base::Status describe(int device);
  base::Result<InContext> enter(int device);
  Device& at(int device) { return *devices_[static_cast<std::size_t>(device)]; }
  base::Error failed(cuda::Result result, int device, const char* call) const;
  base::Error failed(cuda::Result result, int device, const char* call, std::uint64_t bytes) const;
  base::Result<cuda::Event> find_event(int device, EventId event);
  cuda::Result back(const Device& device, Address address, std::uint64_t page) const;
  void give_everything_back(Device& device);

  const cuda::Api api_;
  std::vector<std::unique_ptr<Device>> devices_;  // constant once opened
};

}  // namespace ebb::device
