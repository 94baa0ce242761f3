// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuda_workbench.h"

#include <utility>

namespace ebb::conformance {
namespace {

constexpr unsigned kStreamNonBlocking = 1;   // CU_STREAM_NON_BLOCKING
constexpr unsigned kWaitGreaterOrEqual = 0;  // CU_STREAM_WAIT_VALUE_GEQ

}  // namespace

CudaWorkbench::CudaWorkbench(cuda::Api loaded, base::DynamicLibrary library)
    : api(std::move(loaded)), library_(std::move(library)) {}

base::Result<std::unique_ptr<CudaWorkbench>> CudaWorkbench::open(const std::string& name) {
  auto api = cuda::Api::load(name);
  if (!api) return std::move(api).error();
  auto library = base::DynamicLibrary::open(name);
  if (!library) return std::move(library).error();
  std::unique_ptr<CudaWorkbench> bench(new CudaWorkbench(std::move(*api), std::move(*library)));
#define EBB_CUDA_LOAD(member, symbol, parameters)                                   \
  bench->member = bench->library_.function<decltype(bench->member)>(symbol);        \
  if (bench->member == nullptr) {                                                   \
    return base::error(base::Code::unavailable, "%s has no " symbol, name.c_str()); \
  }
  EBB_CUDA_CHECK_FUNCTIONS(EBB_CUDA_LOAD)
#undef EBB_CUDA_LOAD
  if (base::Status started = bench->start(); !started) return started.error();
  return bench;
}

base::Status CudaWorkbench::start() {
  cuda::Result result = api.cuDevicePrimaryCtxRetain(&context, 0);
  if (result != cuda::kSuccess) return api.error(result, "cuDevicePrimaryCtxRetain");
  api.cuCtxPushCurrent(context);
  result = cuStreamCreate(&stream, kStreamNonBlocking);
  if (result == cuda::kSuccess) result = api.cuMemAlloc(&flag_, sizeof(unsigned));
  cuda::Context popped = nullptr;
  api.cuCtxPopCurrent(&popped);
  if (result != cuda::kSuccess) return api.error(result, "making a stream and a flag");
  return {};
}

CudaWorkbench::~CudaWorkbench() {
  if (context == nullptr) return;
  api.cuCtxPushCurrent(context);
  if (stream != nullptr) cuStreamDestroy(stream);
  if (flag_ != 0) api.cuMemFree(flag_);
  cuda::Context popped = nullptr;
  api.cuCtxPopCurrent(&popped);
  api.cuDevicePrimaryCtxRelease(0);
}

bool CudaWorkbench::copy(int device, const std::function<cuda::Result()>& how) {
  if (device != 0) return false;
  api.cuCtxPushCurrent(context);
  const cuda::Result result = how();
  cuda::Context popped = nullptr;
  api.cuCtxPopCurrent(&popped);
  return result == cuda::kSuccess;
}

DriverTraits CudaWorkbench::traits(bool exact_memory) {
  DriverTraits traits;
  traits.streams = {0, reinterpret_cast<device::StreamId>(stream)};
  traits.exact_memory = exact_memory;
  traits.write = [this](int device, device::Address to, const std::vector<unsigned char>& data) {
    return copy(device, [&] { return cuMemcpyHtoD(to, data.data(), data.size()); });
  };
  traits.read = [this](int device, device::Address from, std::vector<unsigned char>& data) {
    return copy(device, [&] { return cuMemcpyDtoH(data.data(), from, data.size()); });
  };
  traits.hold = [this](int device, device::StreamId held) {
    copy(device, [&] {
      const unsigned closed = 0;
      cuMemcpyHtoD(flag_, &closed, sizeof closed);
      return cuStreamWaitValue32(reinterpret_cast<cuda::Stream>(held), flag_, 1,
                                 kWaitGreaterOrEqual);
    });
  };
  traits.let_go = [this](int device, device::StreamId) {
    copy(device, [&] {
      const unsigned open = 1;
      return cuMemcpyHtoD(flag_, &open, sizeof open);
    });
  };
  return traits;
}

}  // namespace ebb::conformance
