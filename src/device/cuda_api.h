// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/dynamic_library.h"
#include "base/result.h"

/// The part of the CUDA driver API that Ebb uses, declared here because a machine without a GPU
/// has no cuda.h. Values and layouts are those of the public documentation of CUDA 11.2 and later
/// (docs.nvidia.com/cuda/cuda-driver-api); they are part of the ABI and do not change.
namespace ebb::device::cuda {

using Result = int;  // CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kDeinitialized = 4;
inline constexpr Result kStubLibrary = 34;
inline constexpr Result kDeviceUnavailable = 46;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kInvalidHandle = 400;
inline constexpr Result kNotReady = 600;
inline constexpr Result kNotSupported = 801;
inline constexpr Result kSystemNotReady = 802;
inline constexpr Result kSystemDriverMismatch = 803;
inline constexpr Result kCompatNotSupported = 804;
inline constexpr Result kStreamCaptureUnsupported = 900;
inline constexpr Result kStreamCaptureInvalidated = 901;
inline constexpr Result kStreamCaptureImplicit = 906;

using Device = int;                  // CUdevice
using Pointer = unsigned long long;  // CUdeviceptr
using Handle = unsigned long long;   // CUmemGenericAllocationHandle
using Context = struct ContextTag*;  // CUcontext
using Stream = struct StreamTag*;    // CUstream
using Event = struct EventTag*;      // CUevent

inline constexpr int kAttributeVirtualMemory = 102;      // CU_DEVICE_ATTRIBUTE_…_SUPPORTED
inline constexpr int kAttributeRdmaVirtualMemory = 110;  // …GPU_DIRECT_RDMA_WITH_CUDA_VMM_…
inline constexpr int kAllocationPinned = 1;              // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kLocationDevice = 1;                // CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int kAccessReadWrite = 3;               // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr int kGranularityMinimum = 0;            // CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr unsigned kEventDisableTiming = 2;       // CU_EVENT_DISABLE_TIMING
inline constexpr int kCaptureModeRelaxed = 2;            // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr int kCaptureNone = 0;                   // CU_STREAM_CAPTURE_STATUS_NONE

struct Location {  // CUmemLocation
  int type = kLocationDevice;
  int id = 0;
};

struct AllocationProperties {  // CUmemAllocationProp
  int type = kAllocationPinned;
  int requested_handle_types = 0;
  Location location;
  void* win32_handle_metadata = nullptr;
  unsigned char compression_type = 0;
  unsigned char gpu_direct_rdma_capable = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
static_assert(sizeof(AllocationProperties) == 32);

struct AccessDescription {  // CUmemAccessDesc
  Location location;
  int flags = kAccessReadWrite;
};
static_assert(sizeof(AccessDescription) == 12);

/// Every function that Ebb calls: its name here, its name in the library, its parameters.
#define EBB_CUDA_FUNCTIONS(X)                                                                 \
  X(cuInit, "cuInit", (unsigned flags))                                                       \
  X(cuGetErrorName, "cuGetErrorName", (Result error, const char** text))                      \
  X(cuGetErrorString, "cuGetErrorString", (Result error, const char** text))                  \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                       \
  X(cuDeviceGet, "cuDeviceGet", (Device * device, int ordinal))                               \
  X(cuDeviceGetName, "cuDeviceGetName", (char* name, int length, Device device))              \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (std::size_t * bytes, Device device))            \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, Device device)) \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context * context, Device device)) \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (Device device))               \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (Context context))                               \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (Context * context))                               \
  X(cuCtxSynchronize, "cuCtxSynchronize", ())                                                 \
  X(cuMemGetInfo, "cuMemGetInfo_v2", (std::size_t * free, std::size_t * total))               \
  X(cuMemAlloc, "cuMemAlloc_v2", (Pointer * pointer, std::size_t bytes))                      \
  X(cuMemFree, "cuMemFree_v2", (Pointer pointer))                                             \
  X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity",                           \
    (std::size_t * granularity, const AllocationProperties* properties, int option))          \
  X(cuMemAddressReserve, "cuMemAddressReserve",                                               \
    (Pointer * pointer, std::size_t bytes, std::size_t alignment, Pointer wish,               \
     unsigned long long flags))                                                               \
  X(cuMemAddressFree, "cuMemAddressFree", (Pointer pointer, std::size_t bytes))               \
  X(cuMemCreate, "cuMemCreate",                                                               \
    (Handle * handle, std::size_t bytes, const AllocationProperties* properties,              \
     unsigned long long flags))                                                               \
  X(cuMemRelease, "cuMemRelease", (Handle handle))                                            \
  X(cuMemMap, "cuMemMap",                                                                     \
    (Pointer pointer, std::size_t bytes, std::size_t offset, Handle handle,                   \
     unsigned long long flags))                                                               \
  X(cuMemUnmap, "cuMemUnmap", (Pointer pointer, std::size_t bytes))                           \
  X(cuMemSetAccess, "cuMemSetAccess",                                                         \
    (Pointer pointer, std::size_t bytes, const AccessDescription* descriptions,               \
     std::size_t count))                                                                      \
  X(cuEventCreate, "cuEventCreate", (Event * event, unsigned flags))                          \
  X(cuEventRecord, "cuEventRecord", (Event event, Stream stream))                             \
  X(cuEventQuery, "cuEventQuery", (Event event))                                              \
  X(cuEventSynchronize, "cuEventSynchronize", (Event event))                                  \
  X(cuEventDestroy, "cuEventDestroy_v2", (Event event))                                       \
  X(cuStreamSynchronize, "cuStreamSynchronize", (Stream stream))                              \
  X(cuStreamIsCapturing, "cuStreamIsCapturing", (Stream stream, int* status))                 \
  X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int* mode))

/// The driver library, loaded whole or not at all. Immutable; its functions are thread-safe.
class Api {
 public:
  /// Loads and initialises it. Code::unavailable when the library is not there, lacks a function
  /// or finds no device: one line that says which.
  static base::Result<Api> load(const std::string& library);

  int device_count() const { return device_count_; }

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define EBB_CUDA_DECLARE(name, symbol, parameters) Result(*name) parameters = nullptr;
  EBB_CUDA_FUNCTIONS(EBB_CUDA_DECLARE)
#undef EBB_CUDA_DECLARE

  /// The failure of `call` as a value: `native` is the driver's number.
  base::Error error(Result result, const std::string& call) const;

 private:
  explicit Api(base::DynamicLibrary library) : library_(std::move(library)) {}

  base::DynamicLibrary library_;
  int device_count_ = 0;
};

}  // namespace ebb::device::cuda
