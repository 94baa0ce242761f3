// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <dlfcn.h>

#include <utility>

namespace ebb::base {

Result<DynamicLibrary> DynamicLibrary::open_with(const std::string& name, int flags) {
  void* handle = dlopen(name.c_str(), flags);
  if (handle == nullptr) {
    // The linker's own words begin with the name.
    const char* why = dlerror();
    return error(Code::unavailable, "cannot load %s",
                 why != nullptr ? why : (name + ": not loaded in this process").c_str());
  }
  return DynamicLibrary(handle);
}

Result<DynamicLibrary> DynamicLibrary::open(const std::string& name) {
  return open_with(name, RTLD_NOW | RTLD_LOCAL);
}

Result<DynamicLibrary> DynamicLibrary::already_loaded(const std::string& name) {
  return open_with(name, RTLD_NOW | RTLD_NOLOAD);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace ebb::base
