// SPDX-License-Identifier: Apache-2.0
#include "heap/loaded_objects.h"

#include <link.h>

#include <algorithm>

namespace ebb::heap {
namespace {

constexpr const char* kProgram = "/proc/self/exe";

}  // namespace

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        auto* all = static_cast<std::vector<LoadedObject>*>(context);
        LoadedObject object{all->empty() ? kProgram : info->dlpi_name, ~std::uint64_t{0}, 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const std::uint64_t start = info->dlpi_addr + segment.p_vaddr;
          object.start = std::min(object.start, start);
          object.end = std::max(object.end, start + segment.p_memsz);
        }
        all->push_back(std::move(object));
        return 0;
      },
      &objects);
  return objects;
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
