// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/card_kernels.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fl/torch/card_kernels_source.h"
#include "fl/torch/card_moves_source.h"
#include "fl/torch/nvrtc.h"

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

const CardKernels::Choice& CardKernels::choice() {
  static const Choice made = []() -> Choice {
    const char* wanted = std::getenv("EBB_CARD_KERNELS");
    if (wanted != nullptr && std::string_view(wanted) == "0") return {};
    static CardKernels kernels;
    const base::Status loaded = kernels.load();
    if (loaded) return {&kernels, ""};
    return {nullptr, loaded.error().message};
  }();
  return made;
}

const CardKernels* CardKernels::of(at::Device device) {
  return device.is_cuda() ? choice().kernels : nullptr;
}

std::string CardKernels::line_of_their_absence() {
  static std::atomic_flag said;
  if (choice().why_none.empty() || said.test_and_set()) return {};
  return "the GPU computes with libtorch's operations alone, to the same bits but more slowly: " +
         choice().why_none;
}

base::Status CardKernels::load() {
  static Driver driver;
  int device = 0;
  const base::Error no_driver =
      base::error(base::Code::unavailable, "the driver (libcuda.so.1) does not take kernels");
  if (!driver.open() || driver.device_get(&device, 0) != 0) return no_driver;
  const std::string kind = driver.kind_of(device);
  if (kind.empty()) return no_driver;
  const auto compiler = Nvrtc::open();
  if (!compiler) return compiler.error();
  const auto code = compiler->compile((std::string(kCardKernels) + kMoveKernels).c_str(), kind);
  if (!code) return code.error();
  void* module = nullptr;
  if (driver.retain(&context_, device) != 0 || driver.make_current(context_) != 0 ||
      driver.load(&module, code->data()) != 0)
    return no_driver;
  for (std::size_t i = 0; i < kNames; ++i)
    if (driver.get_function(&functions_[i], module, kFunctions[i]) != 0) return no_driver;
  driver_ = &driver;
  return {};
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
