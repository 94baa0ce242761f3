// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/dynamic_library.h"
#include "conformance/driver_conformance.h"
#include "device/cuda_api.h"

namespace ebb::conformance {

namespace cuda = device::cuda;

/// Functions of the driver library that only checks call.
#define EBB_CUDA_CHECK_FUNCTIONS(X)                                                            \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", (cuda::Context * context))                             \
  X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (cuda::Pointer to, const void* from, std::size_t bytes))  \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void* to, cuda::Pointer from, std::size_t bytes))        \
  X(cuStreamCreate, "cuStreamCreate", (cuda::Stream * stream, unsigned flags))                 \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (cuda::Stream stream))                              \
  X(cuStreamWaitValue32, "cuStreamWaitValue32_v2",                                             \
    (cuda::Stream stream, cuda::Pointer flag, unsigned value, unsigned flags))                 \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (cuda::Stream stream, int mode))          \
  X(cuStreamEndCapture, "cuStreamEndCapture", (cuda::Stream stream, struct GraphTag * *graph)) \
  X(cuGraphDestroy, "cuGraphDestroy", (struct GraphTag * graph))

/// The driver library as a check sees it: beside the driver under test, in the same primary
/// contexts. Holds a stream of its own on device 0.
class CudaWorkbench {
 public:
  static base::Result<std::unique_ptr<CudaWorkbench>> open(const std::string& library);
  ~CudaWorkbench();
  CudaWorkbench(const CudaWorkbench&) = delete;
  CudaWorkbench& operator=(const CudaWorkbench&) = delete;

  const cuda::Api api;

#define EBB_CUDA_DECLARE(name, symbol, parameters) cuda::Result(*name) parameters = nullptr;
  EBB_CUDA_CHECK_FUNCTIONS(EBB_CUDA_DECLARE)
#undef EBB_CUDA_DECLARE

  /// A stream of device 0 that does not wait for the default one.
  cuda::Stream stream = nullptr;

  /// The primary context of device 0.
  cuda::Context context = nullptr;

  /// For a CudaDriver over the same library; refers to this object.
  DriverTraits traits(bool exact_memory);

 private:
  CudaWorkbench(cuda::Api loaded, base::DynamicLibrary library);
  base::Status start();
  bool copy(int device, const std::function<cuda::Result()>& how);

  base::DynamicLibrary library_;
  cuda::Pointer flag_ = 0;
};

}  // namespace ebb::conformance
