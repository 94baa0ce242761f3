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

std::vector<std::string> backends_here() {
  std::vector<std::string> names = {"native"};
  if (at::hasMKLDNN()) names.emplace_back("onednn");
  if (at::hasCUDA() && at::globalContext().hasCUDA()) names.emplace_back("cuda");
  return names;
}

base::Result<at::Device> use_backend(const std::string& name) {
  if (name != "native" && name != "onednn" && name != "cuda")
    return base::error(base::Code::bad_input, "backend '%s': expected auto, native, onednn or cuda",
                       name.c_str());
  const std::vector<std::string> here = backends_here();
  if (std::find(here.begin(), here.end(), name) == here.end())
    return base::error(base::Code::unavailable, "backend '%s': this libtorch or machine has none",
                       name.c_str());
  // Clients run side by side, each on one thread: so their sums have one order.
  at::set_num_threads(1);
  using SetThreads = void (*)(int);
  if (const auto set =
          reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
    set(1);
  at::globalContext().setUserEnabledMkldnn(name == "onednn");
  if (name == "cuda") {
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
