// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for machines without a GPU: devices, contexts, streams, events, and the hooks
// through which tests steer the fake (support/fake_cuda.h).
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "support/fake_cuda_state.h"

namespace ebb::fake_cuda {

thread_local std::vector<cuda::Context> thread_contexts;
thread_local int thread_capture_mode = 0;  // CU_STREAM_CAPTURE_MODE_GLOBAL

DeviceState* State::current() {
  if (thread_contexts.empty() || thread_contexts.back() == nullptr) return nullptr;
  return &devices[thread_contexts.back()->device];
}

bool State::unsafe_call_allowed() {
  if (thread_capture_mode == cuda::kCaptureModeRelaxed) return true;
  bool allowed = true;
  for (auto& [handle, stream] : streams) {
    if (!stream->capturing) continue;
    stream->capture_invalidated = true;
    allowed = false;
  }
  return allowed;
}

namespace {

bool is_device(cuda::Device device) {
  return device >= 0 && device < FAKE_CUDA_DEVICES;
}

/// A stream's own, or null: the default stream, and handles that are not ours.
cuda::StreamTag* find(State& all, cuda::Stream stream) {
  const auto found = all.streams.find(stream);
  return found == all.streams.end() ? nullptr : found->second.get();
}

bool is_known(State& all, cuda::Stream stream) {
  return stream == nullptr || find(all, stream) != nullptr;
}

bool over(const std::vector<cuda::Wait>& waits) {
  return std::all_of(waits.begin(), waits.end(), [](const cuda::Wait& wait) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(wait.flag), sizeof word);
    return word >= wait.value;
  });
}

void wait_until_over(State& all, std::unique_lock<std::mutex>& lock,
                     std::vector<cuda::Wait> waits) {
  all.flag_changed.wait(lock, [&] { return over(waits); });
}

}  // namespace
}  // namespace ebb::fake_cuda

using namespace ebb::device::cuda;
using namespace ebb::fake_cuda;

FAKE_CUDA_EXPORT Result cuInit(unsigned flags) {
  FAKE_CUDA_BEGIN(cuInit);
  if (flags != 0) return kInvalidValue;
  if (FAKE_CUDA_DEVICES == 0) return kNoDevice;
  for (int device = 0; device < FAKE_CUDA_DEVICES; ++device) {
    all.devices[device].context.device = device;
  }
  all.initialised = true;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuGetErrorName(Result error, const char** text) {
  switch (error) {
    case kInvalidValue:
      *text = "CUDA_ERROR_INVALID_VALUE";
      return kSuccess;
    case kOutOfMemory:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return kSuccess;
    case kNoDevice:
      *text = "CUDA_ERROR_NO_DEVICE";
      return kSuccess;
    default:
      *text = nullptr;
      return kInvalidValue;
  }
}

FAKE_CUDA_EXPORT Result cuGetErrorString(Result error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : nullptr;
  return *text != nullptr ? kSuccess : kInvalidValue;
}

FAKE_CUDA_EXPORT Result cuDeviceGetCount(int* count) {
  FAKE_CUDA_BEGIN(cuDeviceGetCount);
  *count = FAKE_CUDA_DEVICES;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDeviceGet(Device* device, int ordinal) {
  FAKE_CUDA_BEGIN(cuDeviceGet);
  if (!is_device(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDeviceGetName(char* name, int length, Device device) {
  FAKE_CUDA_BEGIN(cuDeviceGetName);
  if (!is_device(device)) return kInvalidDevice;
  std::snprintf(name, static_cast<std::size_t>(length), "fake GPU %d", device);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDeviceTotalMem_v2(std::size_t* bytes, Device device) {
  FAKE_CUDA_BEGIN(cuDeviceTotalMem);
  if (!is_device(device)) return kInvalidDevice;
  *bytes = all.devices[device].total;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDeviceGetAttribute(int* value, int attribute, Device device) {
  FAKE_CUDA_BEGIN(cuDeviceGetAttribute);
  if (!is_device(device)) return kInvalidDevice;
  if (attribute != kAttributeVirtualMemory && attribute != kAttributeRdmaVirtualMemory) {
    return kInvalidValue;
  }
  *value = attribute == kAttributeVirtualMemory && all.virtual_memory ? 1 : 0;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  FAKE_CUDA_BEGIN(cuDevicePrimaryCtxRetain);
  if (!is_device(device)) return kInvalidDevice;
  *context = &all.devices[device].context;
  ++(*context)->retained;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDevicePrimaryCtxRelease_v2(Device device) {
  FAKE_CUDA_BEGIN(cuDevicePrimaryCtxRelease);
  if (!is_device(device)) return kInvalidDevice;
  DeviceState& state = all.devices[device];
  if (state.context.retained == 0) return kInvalidContext;
  if (--state.context.retained == 0) destroy_context(all, state);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuCtxPushCurrent_v2(Context context) {
  FAKE_CUDA_BEGIN(cuCtxPushCurrent);
  if (context == nullptr || context->retained == 0) return kInvalidContext;
  thread_contexts.push_back(context);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuCtxPopCurrent_v2(Context* context) {
  FAKE_CUDA_BEGIN(cuCtxPopCurrent);
  if (thread_contexts.empty()) return kInvalidContext;
  *context = thread_contexts.back();
  thread_contexts.pop_back();
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuCtxGetCurrent(Context* context) {
  FAKE_CUDA_BEGIN(cuCtxGetCurrent);
  *context = thread_contexts.empty() ? nullptr : thread_contexts.back();
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuCtxSynchronize() {
  FAKE_CUDA_BEGIN(cuCtxSynchronize);
  if (all.current() == nullptr) return kInvalidContext;
  std::vector<Wait> waits;
  for (const auto& [handle, stream] : all.streams) {
    waits.insert(waits.end(), stream->waits.begin(), stream->waits.end());
  }
  wait_until_over(all, lock, waits);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamCreate(Stream* stream, unsigned flags) {
  FAKE_CUDA_BEGIN(cuStreamCreate);
  const DeviceState* device = all.current();
  if (device == nullptr) return kInvalidContext;
  auto made = std::make_unique<StreamTag>();
  made->device = device->context.device;
  made->blocking = flags == 0;
  *stream = made.get();
  all.streams[*stream] = std::move(made);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamDestroy_v2(Stream stream) {
  FAKE_CUDA_BEGIN(cuStreamDestroy);
  return all.streams.erase(stream) == 1 ? kSuccess : kInvalidHandle;
}

FAKE_CUDA_EXPORT Result cuStreamWaitValue32_v2(Stream stream, Pointer flag, unsigned value,
                                               unsigned) {
  FAKE_CUDA_BEGIN(cuStreamWaitValue32);
  StreamTag* found = find(all, stream);
  if (found == nullptr) return kInvalidHandle;
  found->waits.push_back({flag, value});
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamSynchronize(Stream stream) {
  FAKE_CUDA_BEGIN(cuStreamSynchronize);
  if (all.current() == nullptr) return kInvalidContext;
  if (!is_known(all, stream)) return kInvalidHandle;
  if (const StreamTag* found = find(all, stream); found != nullptr) {
    wait_until_over(all, lock, found->waits);
  }
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamIsCapturing(Stream stream, int* status) {
  FAKE_CUDA_BEGIN(cuStreamIsCapturing);
  if (!is_known(all, stream)) return kInvalidHandle;
  const StreamTag* found = find(all, stream);
  if (found == nullptr) {
    for (const auto& [handle, other] : all.streams) {
      if (other->capturing && other->blocking) return kStreamCaptureImplicit;
    }
  }
  *status = found != nullptr && found->capturing ? 1 : kCaptureNone;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamBeginCapture_v2(Stream stream, int) {
  FAKE_CUDA_BEGIN(cuStreamBeginCapture);
  StreamTag* found = find(all, stream);
  if (found == nullptr) return kStreamCaptureUnsupported;
  found->capturing = true;
  found->capture_invalidated = false;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamEndCapture(Stream stream, void** graph) {
  FAKE_CUDA_BEGIN(cuStreamEndCapture);
  *graph = nullptr;
  StreamTag* found = find(all, stream);
  if (found == nullptr || !found->capturing) return kInvalidValue;
  found->capturing = false;
  return found->capture_invalidated ? kStreamCaptureInvalidated : kSuccess;
}

FAKE_CUDA_EXPORT Result cuGraphDestroy(void*) {
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuThreadExchangeStreamCaptureMode(int* mode) {
  FAKE_CUDA_BEGIN(cuThreadExchangeStreamCaptureMode);
  std::swap(*mode, thread_capture_mode);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuEventCreate(Event* event, unsigned) {
  FAKE_CUDA_BEGIN(cuEventCreate);
  const DeviceState* device = all.current();
  if (device == nullptr) return kInvalidContext;
  auto made = std::make_unique<EventTag>();
  made->device = device->context.device;
  *event = made.get();
  all.events[*event] = std::move(made);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuEventRecord(Event event, Stream stream) {
  FAKE_CUDA_BEGIN(cuEventRecord);
  const DeviceState* device = all.current();
  if (device == nullptr) return kInvalidContext;
  const auto found = all.events.find(event);
  if (found == all.events.end() || !is_known(all, stream)) return kInvalidHandle;
  if (found->second->device != device->context.device) return kInvalidHandle;
  const StreamTag* queue = find(all, stream);
  found->second->waits = queue != nullptr ? queue->waits : std::vector<Wait>();
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuEventQuery(Event event) {
  FAKE_CUDA_BEGIN(cuEventQuery);
  if (!all.unsafe_call_allowed()) return kStreamCaptureUnsupported;
  const auto found = all.events.find(event);
  if (found == all.events.end()) return kInvalidHandle;
  return over(found->second->waits) ? kSuccess : kNotReady;
}

FAKE_CUDA_EXPORT Result cuEventSynchronize(Event event) {
  FAKE_CUDA_BEGIN(cuEventSynchronize);
  const auto found = all.events.find(event);
  if (found == all.events.end()) return kInvalidHandle;
  wait_until_over(all, lock, found->second->waits);
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuEventDestroy_v2(Event event) {
  FAKE_CUDA_BEGIN(cuEventDestroy);
  return all.events.erase(event) == 1 ? kSuccess : kInvalidHandle;
}

FAKE_CUDA_EXPORT void fake_cuda_reset() {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.reset();
  thread_contexts.clear();
}

FAKE_CUDA_EXPORT void fake_cuda_fail(const char* function, std::uint64_t after, std::uint64_t times,
                                     int result) {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.faults[function] = {after, times, result};
}

FAKE_CUDA_EXPORT std::uint64_t fake_cuda_calls(const char* function) {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.calls[function];
}

FAKE_CUDA_EXPORT void fake_cuda_set_virtual_memory(int supported) {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.virtual_memory = supported != 0;
}

FAKE_CUDA_EXPORT std::uint64_t fake_cuda_live_objects() {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::uint64_t live = all.allocations.size() + all.reservations.size() + all.handles.size() +
                       all.mappings.size() + all.streams.size() + all.events.size();
  for (const DeviceState& device : all.devices) {
    live += static_cast<std::uint64_t>(device.context.retained);
  }
  return live;
}
