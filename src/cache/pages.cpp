// SPDX-License-Identifier: Apache-2.0
#include "cache/pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"

namespace ebb::cache {

void* map_pages(std::size_t bytes, std::size_t alignment) {
  const std::size_t padded = bytes + alignment;
  void* start = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EBB_CHECK(start != MAP_FAILED);
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t aligned = (first + alignment - 1) & ~(alignment - 1);
  const std::uintptr_t end = aligned + bytes;
  if (aligned != first) munmap(start, aligned - first);
  if (end != first + padded) munmap(reinterpret_cast<void*>(end), first + padded - end);
  auto* memory = reinterpret_cast<void*>(aligned);
  // Only advice: without huge pages the table works as well.
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void unmap_pages(void* memory, std::size_t bytes) {
  EBB_CHECK(munmap(memory, bytes) == 0);
}

}  // namespace ebb::cache
