// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/backend.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#if __has_include(<torch/headeronly/version.h>)
#include <ATen/DeviceAccelerator.h>
#define EBB_CAN_EMPTY_DEVICE_CACHE
#endif

namespace ebb::fl {

const char* name_of(Backend backend) {
  switch (backend) {
    case Backend::native:
      return "native";
    case Backend::onednn:
      return "onednn";
    case Backend::cuda:
      return "cuda";
  }
  return "?";
}

base::Result<Backend> backend_from(std::string_view name) {
  for (const Backend backend : {Backend::native, Backend::onednn, Backend::cuda})
    if (name == name_of(backend)) return backend;
  return base::error(base::Code::bad_input, "backend '%.*s': expected auto, native, onednn or cuda",
                     static_cast<int>(name.size()), name.data());
}

std::vector<Backend> backends_here() {
  std::vector<Backend> here = {Backend::native};
  if (at::hasMKLDNN()) here.push_back(Backend::onednn);
  if (at::hasCUDA() && at::globalContext().hasCUDA()) here.push_back(Backend::cuda);
  return here;
}

base::Result<at::Device> use_backend(Backend backend) {
  const std::vector<Backend> here = backends_here();
  if (std::find(here.begin(), here.end(), backend) == here.end())
    return base::error(base::Code::unavailable, "backend '%s': this libtorch or machine has none",
                       name_of(backend));
  // Clients run side by side, each on one thread: so their sums have one order.
  at::set_num_threads(1);
  using SetThreads = void (*)(int);
  if (const auto set =
          reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
    set(1);
  at::globalContext().setUserEnabledMkldnn(backend == Backend::onednn);
  if (backend == Backend::cuda) {
    // Convolutions in TF32 are PyTorch's own default; ours are products of matrices.
    at::globalContext().setAllowTF32CuDNN(true);
    at::globalContext().setAllowTF32CuBLAS(true);
    return at::Device(at::kCUDA, 0);
  }
  return at::Device(at::kCPU);
}

void empty_device_cache() {
#ifdef EBB_CAN_EMPTY_DEVICE_CACHE
  if (at::hasCUDA()) at::accelerator::emptyCache();
#endif
}

}  // namespace ebb::fl
