// SPDX-License-Identifier: Apache-2.0
#include "capi/process_exception.h"

#include <cstdlib>

#include "base/dynamic_library.h"
#include "base/log.h"

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

}  // namespace

// find_throw stays apart: a frame with a handler would need this library's runtime to unwind.
void throw_in_process(const char* message) {
  if (Throw thrown = find_throw()) thrown(message);
  base::log(base::LogLevel::error, "%s (and no C++ runtime in this process to throw it with)",
            message);
  std::abort();
}

}  // namespace ebb::capi
