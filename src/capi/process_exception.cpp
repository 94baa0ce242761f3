// SPDX-License-Identifier: Apache-2.0
#include "capi/process_exception.h"

#include <stdexcept>

#include "base/dynamic_library.h"

namespace ebb::capi {
namespace {

using Throw = void (*)(const char* message);

/// std::__throw_runtime_error of the process's libstdc++. By the library's name, not by a global
/// search: Python loads its extensions, and what they bring, out of sight of one.
[[gnu::noinline]] Throw find_throw() noexcept {
  try {
    const auto library = base::DynamicLibrary::already_loaded("libstdc++.so.6");
    return library ? library->function<Throw>("_ZSt21__throw_runtime_errorPKc") : nullptr;
  } catch (...) {
    return nullptr;
  }
}

[[noreturn, gnu::noinline]] void throw_own(const char* message) {
  throw std::runtime_error(message);
}

}  // namespace

// The two above stay apart: this frame has neither handlers nor anything to destroy, which would be
// strangers to the exception that passes through.
void throw_in_process(const char* message) {
  if (Throw thrown = find_throw()) thrown(message);
  throw_own(message);
}

}  // namespace ebb::capi
