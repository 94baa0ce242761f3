// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "heap/glibc_arenas.h"
#include "heap/identify.h"
#include "heap/library_cache.h"
#include "heap/mappings.h"

using namespace ebb;

namespace {

/// ELF files are read by descriptor: give it one in memory.
void read_as_elf(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  EBB_CHECK(ftruncate(file, 0) == 0);
  EBB_CHECK(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  base::Result<heap::ElfFile> elf = heap::ElfFile::open(path);
  if (!elf) {
    EBB_CHECK(!elf.error().message.empty());
    return;
  }
  static_cast<void>(heap::identify_main(*elf));
  static_cast<void>(heap::identify_private_copies(*elf));
}

}  // namespace

/// The first byte chooses the reader; whatever the rest is, there is a value or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      read_as_elf(data + 1, size - 1);
      break;
    case 1:
      if (const auto mappings = heap::parse_mappings(text)) {
        // Every heap has the same header, out of the file's own bytes.
        heap::arena_ranges(*mappings, [&](std::uint64_t, void* target, std::size_t bytes) {
          if (text.size() < bytes) return false;
          std::memcpy(target, text.data(), bytes);
          return true;
        });
      }
      break;
    case 2:
      static_cast<void>(heap::parse_library_cache(text));
      break;
    case 3:
      static_cast<void>(heap::parse_malloc_info(text));
      break;
  }
  return 0;
}
