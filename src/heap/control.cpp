// SPDX-License-Identifier: Apache-2.0
#include "heap/control.h"

#include <dlfcn.h>

#include "base/fork.h"
#include "heap/elf.h"
#include "heap/thread_heaps.h"

namespace ebb::heap {
namespace {

constexpr std::size_t kCodeCompared = 64;

void* dynamic_address(const Detection& detection, const std::string& symbol) {
  const auto in_object = [&](void* address) {
    Dl_info info{};
    return address != nullptr && dladdr(address, &info) != 0 &&
           reinterpret_cast<std::uint64_t>(info.dli_fbase) == detection.load_address;
  };
  const base::Lock lock(base::loader_calls());
  if (void* address = dlsym(RTLD_DEFAULT, symbol.c_str()); in_object(address)) return address;
  // Somebody's shim may stand in front of it in the global scope: ask the object itself.
  void* handle = dlopen(detection.object.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* address = dlsym(handle, symbol.c_str());
  dlclose(handle);
  return in_object(address) ? address : nullptr;
}

/// Whether the code at an address is what the file has there: an update may have replaced the file
/// under a process that goes on with the old one.
bool is_loaded_from(const ElfFile& file, std::uint64_t value, std::uint64_t address) {
  const std::string expected = file.code_at(value, kCodeCompared);
  std::string there(expected.size(), '\0');
  return !expected.empty() && read_own_memory(address, there.data(), there.size()) &&
         there == expected;
}

void* static_address(const Detection& detection, const std::string& symbol) {
  base::Result<ElfFile> file = ElfFile::open(detection.object);
  if (!file) return nullptr;
  const std::string_view ending = symbol;
  for (const ElfFunction& function : file->functions_ending_in({&ending, 1})) {
    if (function.name != symbol) continue;
    const std::uint64_t bias = file->is_relocatable() ? detection.load_address : 0;
    const std::uint64_t address = bias + function.value;
    return is_loaded_from(*file, function.value, address) ? reinterpret_cast<void*>(address)
                                                          : nullptr;
  }
  return nullptr;
}

}  // namespace

void* control_address(const Detection& detection, const std::string& symbol) {
  if (detection.load_address == 0) return nullptr;
  if (void* address = dynamic_address(detection, symbol)) return address;
  // Only where the static table identified the allocator: a big library's table is slow to read.
  if (detection.identity.evidence != Evidence::static_symbol) return nullptr;
  return static_address(detection, symbol);
}

}  // namespace ebb::heap
