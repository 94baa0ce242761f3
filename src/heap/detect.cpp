// SPDX-License-Identifier: Apache-2.0
#include "heap/detect.h"

#include <dlfcn.h>
#include <link.h>

#include <set>

#include "base/file.h"

namespace ebb::heap {
namespace {

/// dladdr names the program as it was started, which may no longer lead anywhere.
std::string file_of_object(const Dl_info& info) {
  const auto here = reinterpret_cast<std::uint64_t>(info.dli_fbase);
  struct Search {
    std::uint64_t base;
    bool is_program = false;
    bool first = true;
  } search{here};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* context) {
        auto* wanted = static_cast<Search*>(context);
        if (!wanted->first) return 1;
        wanted->first = false;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const std::uint64_t start = object->dlpi_addr + segment.p_vaddr;
          if (wanted->base >= start && wanted->base < start + segment.p_memsz)
            wanted->is_program = true;
        }
        return 0;
      },
      &search);
  return search.is_program ? "/proc/self/exe" : std::string(info.dli_fname);
}

Detection look() {
  Detection detection;
  void* entry = dlsym(RTLD_DEFAULT, "malloc");
  Dl_info info{};
  if (entry == nullptr || dladdr(entry, &info) == 0 || info.dli_fname == nullptr) {
    detection.note = "the dynamic linker does not say where malloc is (static program?)";
    return detection;
  }
  detection.object = file_of_object(info);
  detection.load_address = reinterpret_cast<std::uint64_t>(info.dli_fbase);
  base::Result<ElfFile> file = ElfFile::open(detection.object);
  if (!file) {
    detection.note = file.error().message;
    return detection;
  }
  detection.identity = identify_main(*file);
  if (detection.object == "/proc/self/exe") detection.object = info.dli_fname;
  return detection;
}

}  // namespace

const Detection& detect_here() {
  // Never destroyed: cleanups may run while the process takes itself apart.
  static const Detection* detection = new Detection(look());
  return *detection;
}

std::vector<PrivateCopy> private_copies_here() {
  std::set<std::string> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* context) {
        const std::string name = object->dlpi_name;
        static_cast<std::set<std::string>*>(context)->insert(name.empty() ? "/proc/self/exe"
                                                                          : name);
        return 0;
      },
      &objects);
  std::vector<PrivateCopy> copies;
  for (const std::string& object : objects) {
    if (object == detect_here().object) continue;
    base::Result<ElfFile> file = ElfFile::open(object);
    if (!file) continue;  // the vdso has no file
    const Identity identity = identify_private_copy(*file);
    if (identity.kind != AllocatorKind::unknown) copies.push_back({identity, object});
  }
  return copies;
}

}  // namespace ebb::heap
