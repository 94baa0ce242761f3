// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/dynamic_library.h"

namespace ebb::support {

/// The fake libcuda.so.1 that the tests build: two devices of 1 GiB with real host memory behind
/// them, as strict as the real library. Starts afresh with each object of this class; one at a
/// time.
class FakeCuda {
 public:
  explicit FakeCuda(const std::string& library = EBB_FAKE_CUDA) : library_(load(library)) {
    library_.function<void (*)()>("fake_cuda_reset")();
  }

  /// Lets `after` calls of `function` (named without its version) through; the next `times` answer
  /// `result` and do nothing.
  void fail(const char* function, std::uint64_t after, std::uint64_t times, int result) {
    library_.function<void (*)(const char*, std::uint64_t, std::uint64_t, int)>("fake_cuda_fail")(
        function, after, times, result);
  }
  std::uint64_t calls(const char* function) const {
    return library_.function<std::uint64_t (*)(const char*)>("fake_cuda_calls")(function);
  }
  /// Whether the devices say that they support virtual memory management.
  void set_virtual_memory(bool supported) {
    library_.function<void (*)(int)>("fake_cuda_set_virtual_memory")(supported ? 1 : 0);
  }
  /// Segments, reservations, handles, mappings, streams, events and retained contexts.
  std::uint64_t live_objects() const {
    return library_.function<std::uint64_t (*)()>("fake_cuda_live_objects")();
  }

 private:
  static base::DynamicLibrary load(const std::string& name) {
    auto library = base::DynamicLibrary::open(name);
    if (!library) std::abort();
    return std::move(*library);
  }

  base::DynamicLibrary library_;
};

}  // namespace ebb::support
