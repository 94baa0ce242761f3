// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_device.h"

namespace ebb::device {

using base::Lock;
using base::Result;
using base::Status;

namespace {

cuda::Stream handle_of(StreamId stream) {
  return reinterpret_cast<cuda::Stream>(stream);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

Result<EventId> CudaDriver::record_event(int device, StreamId stream) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.event_mutex);
  cuda::Event event = nullptr;
  if (!ours.idle_events.empty()) {
    event = ours.idle_events.back();
    ours.idle_events.pop_back();
  } else if (auto result = api_.cuEventCreate(&event, cuda::kEventDisableTiming);
             result != cuda::kSuccess) {
    return failed(result, device, "cuEventCreate");
  }
  if (auto result = api_.cuEventRecord(event, handle_of(stream)); result != cuda::kSuccess) {
    ours.idle_events.push_back(event);
    return failed(result, device, "cuEventRecord");
  }
  // Ids of different devices differ, so that an event of another one is recognised.
  const EventId id = (static_cast<EventId>(device) << 48) | ++ours.last_event;
  ours.events.emplace(id, event);
  return id;
}

Result<cuda::Event> CudaDriver::find_event(int device, EventId event) {
  Device& ours = at(device);
  const Lock lock(ours.event_mutex);
  return ours.find(event);
}

Result<bool> CudaDriver::event_done(int device, EventId event) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  auto ours = find_event(device, event);
  if (!ours) return std::move(ours).error();
  const cuda::Result result = api_.cuEventQuery(*ours);
  if (result == cuda::kSuccess) return true;
  if (result == cuda::kNotReady) return false;
  return failed(result, device, "cuEventQuery");
}

Status CudaDriver::wait_event(int device, EventId event) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  auto ours = find_event(device, event);
  if (!ours) return std::move(ours).error();
  if (auto result = api_.cuEventSynchronize(*ours); result != cuda::kSuccess) {
    return failed(result, device, "cuEventSynchronize");
  }
  return {};
}

Status CudaDriver::destroy_event(int device, EventId event) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  Device& ours = at(device);
  const Lock lock(ours.event_mutex);
  const auto found = ours.find(event);
  if (!found) return found.error();
  ours.events.erase(event);
  ours.idle_events.push_back(*found);
  return {};
}

Status CudaDriver::synchronize_stream(int device, StreamId stream) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  if (auto result = api_.cuStreamSynchronize(handle_of(stream)); result != cuda::kSuccess) {
    return failed(result, device, "cuStreamSynchronize");
  }
  return {};
}

Status CudaDriver::synchronize(int device) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  if (auto result = api_.cuCtxSynchronize(); result != cuda::kSuccess) {
    return failed(result, device, "cuCtxSynchronize");
  }
  return {};
}

Result<bool> CudaDriver::is_capturing(int device, StreamId stream) {
  auto entered = enter(device);
  if (!entered) return std::move(entered).error();
  int status = cuda::kCaptureNone;
  const cuda::Result result = api_.cuStreamIsCapturing(handle_of(stream), &status);
  // The legacy default stream cannot be captured; it only may not be used while another one is.
  if (result == cuda::kStreamCaptureImplicit) return false;
  if (result != cuda::kSuccess) return failed(result, device, "cuStreamIsCapturing");
  return status != cuda::kCaptureNone;
}

}  // namespace ebb::device
