// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/card_kernels.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fl/torch/card_kernels_source.h"

namespace ebb::fl {
namespace {

constexpr const char* kFunctions[] = {"column_sums",
                                      "column_products",
                                      "normalise",
                                      "normalise_back",
                                      "windows",
                                      "windows_of_four",
                                      "windows_back",
                                      "windows_back_of_four",
                                      "rectify",
                                      "rectify_and_pool",
                                      "rectify_and_pool_back",
                                      "dropout_mask",
                                      "measure_moves",
                                      "add_moves"};
static_assert(std::size(kFunctions) == CardKernels::kNames);

/// A function of a library that was opened. Both interfaces answer 0 where all went well.
template <class Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

/// The part of NVRTC's interface that is used.
struct Compiler {
  int (*create)(void** program, const char* source, const char* name, int headers, const char**,
                const char**) = nullptr;
  int (*compile)(void* program, int options, const char* const* texts) = nullptr;
  int (*size_of)(void* program, std::size_t* bytes) = nullptr;
  int (*get)(void* program, char* into) = nullptr;
  int (*destroy)(void** program) = nullptr;

  bool open() {
    void* library = open_library();
    return library != nullptr && find(library, "nvrtcCreateProgram", create) &&
           find(library, "nvrtcCompileProgram", compile) &&
           find(library, "nvrtcGetCUBINSize", size_of) && find(library, "nvrtcGetCUBIN", get) &&
           find(library, "nvrtcDestroyProgram", destroy);
  }

  /// Machine code for a card of this kind ("sm_90"); empty where that failed.
  std::vector<char> compiled(const char* source, const std::string& kind) const {
    void* program = nullptr;
    if (create(&program, source, "ebb.cu", 0, nullptr, nullptr) != 0) return {};
    const std::string architecture = "--gpu-architecture=" + kind;
    const char* options[] = {architecture.c_str(), "--fmad=false"};
    std::vector<char> code;
    std::size_t bytes = 0;
    if (compile(program, 2, options) == 0 && size_of(program, &bytes) == 0) {
      code.resize(bytes);
      if (get(program, code.data()) != 0) code.clear();
    }
    destroy(&program);
    return code;
  }

 private:
  /// libtorch's own stands beside it and knows where the compiler is; otherwise the system's.
  static void* open_library() {
    std::string beside;
    Dl_info libtorch{};
    if (::dladdr(reinterpret_cast<const void*>(&at::globalContext), &libtorch) != 0 &&
        libtorch.dli_fname != nullptr)
      beside = libtorch.dli_fname;
    beside.resize(beside.rfind('/') == std::string::npos ? 0 : beside.rfind('/') + 1);
    for (const std::string& name : {beside + "libcaffe2_nvrtc.so", std::string("libnvrtc.so.13"),
                                    std::string("libnvrtc.so.12"), std::string("libnvrtc.so")}) {
      if (void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
    return nullptr;
  }
};

}  // namespace

/// The part of the driver's interface that is used.
struct CardKernels::Driver {
  int (*device_get)(int* device, int index) = nullptr;
  int (*attribute)(int* value, int which, int device) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*make_current)(void* context) = nullptr;
  int (*load)(void** module, const void* code) = nullptr;
  int (*get_function)(void** function, void* module, const char* name) = nullptr;
  int (*launch)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned shared, void* stream, void** arguments, void** extra) = nullptr;

  bool open() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && find(library, "cuDeviceGet", device_get) &&
           find(library, "cuDeviceGetAttribute", attribute) &&
           find(library, "cuDevicePrimaryCtxRetain", retain) &&
           find(library, "cuCtxSetCurrent", make_current) &&
           find(library, "cuModuleLoadData", load) &&
           find(library, "cuModuleGetFunction", get_function) &&
           find(library, "cuLaunchKernel", launch);
  }

  /// "sm_90"; empty where it cannot be told.
  std::string kind_of(int device) const {
    constexpr int kMajor = 75;
    constexpr int kMinor = 76;
    int major = 0;
    int minor = 0;
    if (attribute(&major, kMajor, device) != 0 || attribute(&minor, kMinor, device) != 0) return {};
    return "sm_" + std::to_string(major) + std::to_string(minor);
  }
};

const CardKernels* CardKernels::of(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  static const CardKernels* const here = []() -> const CardKernels* {
    const char* wanted = std::getenv("EBB_CARD_KERNELS");
    if (wanted != nullptr && std::string_view(wanted) == "0") return nullptr;
    static CardKernels made;
    return made.load() ? &made : nullptr;
  }();
  return here;
}

bool CardKernels::load() {
  static Driver driver;
  Compiler compiler;
  int device = 0;
  if (!driver.open() || driver.device_get(&device, 0) != 0 || !compiler.open()) return false;
  const std::string kind = driver.kind_of(device);
  if (kind.empty()) return false;
  const std::vector<char> code = compiler.compiled(kCardKernels, kind);
  void* module = nullptr;
  if (code.empty() || driver.retain(&context_, device) != 0 || driver.make_current(context_) != 0 ||
      driver.load(&module, code.data()) != 0)
    return false;
  for (std::size_t i = 0; i < kNames; ++i)
    if (driver.get_function(&functions_[i], module, kFunctions[i]) != 0) return false;
  driver_ = &driver;
  return true;
}

void CardKernels::run(Name name, Size blocks, Size threads,
                      std::initializer_list<Argument> arguments) const {
  std::vector<void*> places;
  places.reserve(arguments.size());
  for (const Argument& argument : arguments)
    places.push_back(const_cast<void*>(argument.place()));
  const auto number = [](std::int64_t size) { return static_cast<unsigned>(size); };
  // A thread that has not used the card yet has no context.
  int failure = driver_->make_current(context_);
  if (failure == 0)
    failure = driver_->launch(functions_[static_cast<std::size_t>(name)], number(blocks.x),
                              number(blocks.y), 1, number(threads.x), number(threads.y), 1, 0,
                              nullptr, places.data(), nullptr);
  TORCH_CHECK(failure == 0, "CUDA error ", failure, " in a kernel of Ebb's, ",
              kFunctions[static_cast<std::size_t>(name)]);
}

}  // namespace ebb::fl
