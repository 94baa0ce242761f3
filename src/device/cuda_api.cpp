// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_api.h"

#include <utility>

namespace ebb::device::cuda {
namespace {

base::Code code_of(Result result) {
  switch (result) {
    case kInvalidValue:
    case kInvalidDevice:
    case kInvalidHandle:
      return base::Code::bad_input;
    case kOutOfMemory:
      return base::Code::out_of_memory;
    case kNotInitialized:
    case kDeinitialized:
    case kStubLibrary:
    case kDeviceUnavailable:
    case kNoDevice:
    case kNotSupported:
    case kSystemNotReady:
    case kSystemDriverMismatch:
    case kCompatNotSupported:
      return base::Code::unavailable;
    default:
      return base::Code::io;
  }
}

}  // namespace

base::Result<Api> Api::load(const std::string& name) {
  auto library = base::DynamicLibrary::open(name);
  if (!library) {
    return base::error(base::Code::unavailable, "CUDA driver not found: %s",
                       library.error().message.c_str());
  }
  Api api(std::move(*library));
#define EBB_CUDA_LOAD(member, symbol, parameters)                                         \
  api.member = api.library_.function<decltype(api.member)>(symbol);                       \
  if (api.member == nullptr) {                                                            \
    return base::error(base::Code::unavailable, "CUDA driver too old: %s has no " symbol, \
                       name.c_str());                                                     \
  }
  EBB_CUDA_FUNCTIONS(EBB_CUDA_LOAD)
#undef EBB_CUDA_LOAD

  Result result = api.cuInit(0);
  if (result == kSuccess) result = api.cuDeviceGetCount(&api.device_count_);
  if (result == kSuccess && api.device_count_ == 0) result = kNoDevice;
  if (result != kSuccess) {
    base::Error failure = api.error(result, "CUDA driver found, but no device that it can use");
    failure.code = base::Code::unavailable;
    return failure;
  }
  return api;
}

base::Error Api::error(Result result, const std::string& call) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(result, &name) != kSuccess || name == nullptr) name = "unknown error";
  if (cuGetErrorString(result, &text) != kSuccess || text == nullptr) text = "no description";
  base::Error failure =
      base::error(code_of(result), "%s: %s (%d): %s", call.c_str(), name, result, text);
  failure.native = result;
  return failure;
}

}  // namespace ebb::device::cuda
