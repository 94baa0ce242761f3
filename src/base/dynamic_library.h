// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace ebb::base {

/// A shared object held open; closed with the last owner. Movable, not copyable.
class DynamicLibrary {
 public:
  /// Loads `name` as the dynamic linker finds it. Code::unavailable with the linker's own words
  /// when it does not.
  static Result<DynamicLibrary> open(const std::string& name);

  /// The object only if this process already has it; nothing is loaded.
  static Result<DynamicLibrary> already_loaded(const std::string& name);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  /// The symbol's address, or null. Searches the object and then what it depends on.
  void* symbol(const char* name) const;

  /// The symbol as a function pointer of type F, or null.
  template <class F>
  F function(const char* name) const {
    return reinterpret_cast<F>(symbol(name));
  }

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  static Result<DynamicLibrary> open_with(const std::string& name, int flags);

  void* handle_ = nullptr;
};

}  // namespace ebb::base
