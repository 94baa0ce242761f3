// SPDX-License-Identifier: Apache-2.0
#include "heap/detect.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "base/file.h"
#include "base/fork.h"

namespace ebb::heap {
namespace {

constexpr const char* kProgram = "/proc/self/exe";

/// The loaded objects by their file, the program first. The linker names the program as it was
/// started, which may no longer lead anywhere: it gets a name that always does.
struct LoadedObject {
  std::string file;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

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

/// The object that a call of malloc reaches. A program that takes the function's address may give
/// dlsym a stub of its own (non-PIE Pythons do), so an object counts only if it defines malloc; the
/// linker lists objects in its search order.
Detection look() {
  Detection detection;
  std::uint64_t entry = 0;
  std::vector<LoadedObject> objects;
  {
    const base::Lock lock(base::loader_calls());
    entry = reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "malloc"));
    objects = loaded_objects();
  }
  std::stable_partition(objects.begin(), objects.end(), [&](const LoadedObject& object) {
    return entry >= object.start && entry < object.end;
  });
  for (const LoadedObject& object : objects) {
    base::Result<ElfFile> file = ElfFile::open(object.file);
    if (!file || !file->defined_dynamically("malloc")) continue;
    detection.object = object.file;
    detection.load_address = object.start;
    detection.identity = identify_main(*file);
    return detection;
  }
  detection.note = "no loaded object defines malloc for others (a static program?)";
  return detection;
}

}  // namespace

const Detection& detect_here() {
  // Never destroyed: cleanups may run while the process takes itself apart.
  static std::atomic<const Detection*> detection;
  return base::made_once(detection, [] { return new Detection(look()); });
}

std::vector<PrivateCopy> private_copies_here() {
  std::vector<PrivateCopy> copies;
  for (const LoadedObject& object : loaded_objects()) {
    if (object.file == detect_here().object) continue;
    base::Result<ElfFile> file = ElfFile::open(object.file);
    if (!file) continue;  // the vdso has no file
    const Identity identity = identify_private_copy(*file);
    if (identity.kind != AllocatorKind::unknown) copies.push_back({identity, object.file});
  }
  return copies;
}

}  // namespace ebb::heap
