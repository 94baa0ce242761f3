// SPDX-License-Identifier: Apache-2.0
#include "heap/allocator_kind.h"

namespace ebb::heap {

const char* name_of(AllocatorKind kind) {
  switch (kind) {
    case AllocatorKind::glibc:
      return "glibc";
    case AllocatorKind::jemalloc:
      return "jemalloc";
    case AllocatorKind::tcmalloc:
      return "tcmalloc";
    case AllocatorKind::mimalloc:
      return "mimalloc";
    case AllocatorKind::musl:
      return "musl";
    case AllocatorKind::unknown:
      return "unknown";
  }
  return "unknown";
}

std::optional<AllocatorKind> allocator_kind_from(std::string_view name) {
  for (const AllocatorKind kind :
       {AllocatorKind::glibc, AllocatorKind::jemalloc, AllocatorKind::tcmalloc,
        AllocatorKind::mimalloc, AllocatorKind::musl, AllocatorKind::unknown}) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

const char* nvflare_name_of(AllocatorKind kind) {
  const bool known = kind == AllocatorKind::glibc || kind == AllocatorKind::jemalloc;
  return known ? name_of(kind) : "unknown";
}

}  // namespace ebb::heap
