// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cinttypes>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "device/cuda_driver.h"
#include "device/ledger.h"

namespace ebb::device {

/// One GPU as a CudaDriver keeps it.
struct CudaDriver::Device {
  explicit Device(int index)
      : name("cuda device " + std::to_string(index)), ledger(Ledger::Rules{}) {}

  const std::string name;

  // Constant once opened.
  cuda::Device handle = 0;
  DeviceInfo info;
  cuda::AllocationProperties properties;

  base::Mutex context_mutex;
  cuda::Context context EBB_GUARDED_BY(context_mutex) = nullptr;

  // Held over the driver's own call, so that the ledger says what the driver did. The driver
  // serialises these calls itself.
  base::Mutex memory_mutex;
  Ledger ledger EBB_GUARDED_BY(memory_mutex);

  // Creating an event costs more than recording it, so that destroyed ones are used again.
  base::Mutex event_mutex;
  std::unordered_map<EventId, cuda::Event> events EBB_GUARDED_BY(event_mutex);
  std::vector<cuda::Event> idle_events EBB_GUARDED_BY(event_mutex);
  EventId last_event EBB_GUARDED_BY(event_mutex) = 0;

  base::Result<cuda::Event> find(EventId event) const EBB_REQUIRES(event_mutex) {
    const auto found = events.find(event);
    if (found != events.end()) return found->second;
    return base::error(base::Code::bad_input, "%s: no event %" PRIu64, name.c_str(), event);
  }
};

/// While it lives, the device's primary context is the thread's current one and driver calls do
/// not disturb a graph capture. Not to be moved to another thread.
class CudaDriver::InContext {
 public:
  explicit InContext(const cuda::Api& api) : api_(&api) {
    int mode = cuda::kCaptureModeRelaxed;
    if (api.cuThreadExchangeStreamCaptureMode(&mode) == cuda::kSuccess) mode_before_ = mode;
  }
  InContext(InContext&& other) noexcept
      : api_(std::exchange(other.api_, nullptr)), mode_before_(other.mode_before_) {}
  InContext& operator=(InContext&&) = delete;
  ~InContext() {
    if (api_ == nullptr) return;
    if (mode_before_) api_->cuThreadExchangeStreamCaptureMode(&*mode_before_);
    cuda::Context ours = nullptr;
    api_->cuCtxPopCurrent(&ours);
  }

 private:
  const cuda::Api* api_;
  std::optional<int> mode_before_;
};

}  // namespace ebb::device
