// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/nvrtc.h"

#include <ATen/Context.h>
#include <dlfcn.h>

namespace ebb::fl {
namespace {

std::string folder_of_libtorch() {
  Dl_info libtorch{};
  if (::dladdr(reinterpret_cast<const void*>(&at::globalContext), &libtorch) == 0 ||
      libtorch.dli_fname == nullptr)
    return {};
  std::string path = libtorch.dli_fname;
  path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  return path;
}

template <class Function>
bool find_in(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

}  // namespace

std::vector<std::string> Nvrtc::names() {
  return {folder_of_libtorch() + "libcaffe2_nvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
          "libnvrtc.so"};
}

base::Result<Nvrtc> Nvrtc::open(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Nvrtc found;
    if (find_in(library, "nvrtcCreateProgram", found.create_) &&
        find_in(library, "nvrtcCompileProgram", found.compile_) &&
        find_in(library, "nvrtcGetCUBINSize", found.size_of_) &&
        find_in(library, "nvrtcGetCUBIN", found.get_) &&
        find_in(library, "nvrtcDestroyProgram", found.destroy_))
      return found;
    ::dlclose(library);
    return base::error(base::Code::unavailable, "%s is no compiler (NVRTC)", name.c_str());
  }
  return base::error(base::Code::unavailable, "no compiler (libnvrtc.so) was found");
}

base::Result<std::vector<char>> Nvrtc::compile(const char* source, const std::string& kind) const {
  void* program = nullptr;
  std::vector<char> code;
  if (create_(&program, source, "ebb.cu", 0, nullptr, nullptr) == 0) {
    const std::string architecture = "--gpu-architecture=" + kind;
    const char* options[] = {architecture.c_str(), "--fmad=false"};
    std::size_t bytes = 0;
    if (compile_(program, 2, options) == 0 && size_of_(program, &bytes) == 0) {
      code.resize(bytes);
      if (get_(program, code.data()) != 0) code.clear();
    }
    destroy_(&program);
  }
  if (code.empty())
    return base::error(base::Code::unavailable, "the compiler (NVRTC) failed for %s", kind.c_str());
  return code;
}

}  // namespace ebb::fl
