// SPDX-License-Identifier: Apache-2.0
#include "heap/loaded_objects.h"

#include <link.h>

#include <algorithm>
#include <new>
#include <utility>

namespace ebb::heap {
namespace {

constexpr const char* kProgram = "/proc/self/exe";

struct Listing {
  std::vector<LoadedObject> objects;
  bool is_out_of_memory = false;

  /// Throws nothing: an exception would have to pass through the C library, which holds a lock and
  /// ends the process instead.
  bool add(const dl_phdr_info& info) noexcept {
    try {
      LoadedObject object{objects.empty() ? kProgram : info.dlpi_name, ~std::uint64_t{0}, 0};
      for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& segment = info.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const std::uint64_t start = info.dlpi_addr + segment.p_vaddr;
        object.start = std::min(object.start, start);
        object.end = std::max(object.end, start + segment.p_memsz);
      }
      objects.push_back(std::move(object));
    } catch (const std::bad_alloc&) {
      is_out_of_memory = true;
    }
    return !is_out_of_memory;
  }
};

}  // namespace

std::vector<LoadedObject> loaded_objects() {
  Listing listing;
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                     void* context) { return static_cast<Listing*>(context)->add(*info) ? 0 : 1; },
                  &listing);
  if (listing.is_out_of_memory) throw std::bad_alloc();
  return std::move(listing.objects);
}

std::uint64_t objects_ever_loaded() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        *static_cast<std::uint64_t*>(context) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace ebb::heap
