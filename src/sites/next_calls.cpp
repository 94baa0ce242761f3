// SPDX-License-Identifier: Apache-2.0
#include "sites/next_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace ebb::sites {
namespace {

// What the loader asks for while it looks names up: messages about those that are not there.
alignas(16) unsigned char early[64 << 10];
std::size_t early_used = 0;
bool is_resolving = false;

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
Range allocator;

/// Its size stands before a block, for early_realloc(). A process has one thread at that time.
void* early_block(std::size_t bytes) {
  const std::size_t whole = 16 + (bytes + 15) / 16 * 16;
  if (bytes > sizeof early || whole > sizeof early - early_used) return nullptr;
  unsigned char* const head = early + early_used;
  early_used += whole;
  std::memcpy(head, &bytes, sizeof bytes);
  mark_early(head + 16);
  return head + 16;
}

void* first_malloc(std::size_t bytes) {
  if (is_resolving) return early_block(bytes);
  resolve();
  return next.malloc(bytes);
}
void first_free(void* block) {
  if (is_resolving || is_early(block)) return;
  resolve();
  next.free(block);
}
void* first_calloc(std::size_t count, std::size_t each) {
  if (is_resolving) return early_block(count * each);  // never used before: zero
  resolve();
  return next.calloc(count, each);
}
void* first_realloc(void* block, std::size_t bytes) {
  if (is_resolving) return block == nullptr ? early_block(bytes) : early_realloc(block, bytes);
  resolve();
  return next.realloc(block, bytes);
}
int first_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  resolve();
  return next.posix_memalign(block, alignment, bytes);
}
void* first_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  resolve();
  return next.aligned_alloc(alignment, bytes);
}
void* first_memalign(std::size_t alignment, std::size_t bytes) {
  resolve();
  return next.memalign(alignment, bytes);
}
void* first_valloc(std::size_t bytes) {
  resolve();
  return next.valloc(bytes);
}
void* first_pvalloc(std::size_t bytes) {
  resolve();
  return next.pvalloc(bytes);
}
void* first_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  resolve();
  return next.mmap(at, bytes, protection, flags, file, offset);
}
int first_munmap(void* at, std::size_t bytes) {
  resolve();
  return next.munmap(at, bytes);
}

void* first_mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  resolve();
  return next.mremap(at, bytes, wanted, flags, to);
}

template <class Function>
void find(Function*& place, const char* name) {
  if (void* const found = ::dlsym(RTLD_NEXT, name)) place = reinterpret_cast<Function*>(found);
}

/// The object that the next malloc lies in, with all its segments.
void find_allocator() {
  const auto address = reinterpret_cast<std::uint64_t>(next.malloc);
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* wanted) {
        Range range{~std::uint64_t{0}, 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const std::uint64_t start = info->dlpi_addr + segment.p_vaddr;
          if (start < range.start) range.start = start;
          if (start + segment.p_memsz > range.end) range.end = start + segment.p_memsz;
        }
        const std::uint64_t at = *static_cast<std::uint64_t*>(wanted);
        if (at < range.start || at >= range.end) return 0;
        allocator = range;
        return 1;
      },
      const_cast<std::uint64_t*>(&address));
}

/// Memory has run out in a form of new that the program's C++ library was to define: it knows what
/// to do, wherever it was loaded from.
void* out_of_memory(const char* name, std::size_t bytes, std::size_t alignment) {
  for (const char* library : {"libstdc++.so.6", "libc++.so.1"}) {
    void* const there = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = there != nullptr ? ::dlsym(there, name) : nullptr;
    if (found == nullptr) continue;
    if (alignment == 0) return reinterpret_cast<void* (*)(std::size_t)>(found)(bytes);
    return reinterpret_cast<void* (*)(std::size_t, std::size_t)>(found)(bytes, alignment);
  }
  std::abort();
}

}  // namespace

constinit NextCalls next{first_malloc,         first_free,          first_calloc,   first_realloc,
                         first_posix_memalign, first_aligned_alloc, first_memalign, first_valloc,
                         first_pvalloc,        first_mmap,          first_munmap,   first_mremap};

void resolve() {
  if (is_resolving || next.malloc != first_malloc) return;
  is_resolving = true;
  NextCalls found = next;
  find(found.malloc, "malloc");
  find(found.free, "free");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.memalign, "memalign");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  find(found.mmap, "mmap");
  find(found.munmap, "munmap");
  find(found.mremap, "mremap");
  find(found.new_one, "_Znwm");
  find(found.new_array, "_Znam");
  find(found.new_one_quietly, "_ZnwmRKSt9nothrow_t");
  find(found.new_array_quietly, "_ZnamRKSt9nothrow_t");
  find(found.new_one_aligned, "_ZnwmSt11align_val_t");
  find(found.new_array_aligned, "_ZnamSt11align_val_t");
  find(found.new_one_aligned_quietly, "_ZnwmSt11align_val_tRKSt9nothrow_t");
  find(found.new_array_aligned_quietly, "_ZnamSt11align_val_tRKSt9nothrow_t");
  find(found.delete_one, "_ZdlPv");
  find(found.delete_array, "_ZdaPv");
  find(found.delete_one_sized, "_ZdlPvm");
  find(found.delete_array_sized, "_ZdaPvm");
  find(found.delete_one_quietly, "_ZdlPvRKSt9nothrow_t");
  find(found.delete_array_quietly, "_ZdaPvRKSt9nothrow_t");
  find(found.delete_one_aligned, "_ZdlPvSt11align_val_t");
  find(found.delete_array_aligned, "_ZdaPvSt11align_val_t");
  find(found.delete_one_sized_aligned, "_ZdlPvmSt11align_val_t");
  find(found.delete_array_sized_aligned, "_ZdaPvmSt11align_val_t");
  find(found.delete_one_aligned_quietly, "_ZdlPvSt11align_val_tRKSt9nothrow_t");
  find(found.delete_array_aligned_quietly, "_ZdaPvSt11align_val_tRKSt9nothrow_t");
  // The message about the last one that is not there is freed with the next call.
  static_cast<void>(::dlerror());
  next = found;
  find_allocator();
  is_resolving = false;
}

bool is_in_allocator(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  return at >= allocator.start && at < allocator.end;
}

bool is_early(const void* block) {
  const auto* at = static_cast<const unsigned char*>(block);
  return at >= early && at < early + sizeof early;
}

void* early_realloc(void* block, std::size_t bytes) {
  std::size_t before = 0;
  std::memcpy(&before, static_cast<unsigned char*>(block) - 16, sizeof before);
  void* const moved = is_resolving ? early_block(bytes) : next.malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, block, before < bytes ? before : bytes);
  return moved;
}

void* next_new(void* (*form)(std::size_t), std::size_t bytes) {
  if (form != nullptr) return form(bytes);
  void* const block = next.malloc(bytes != 0 ? bytes : 1);
  return block != nullptr ? block : out_of_memory("_Znwm", bytes, 0);
}

void* next_new_quietly(void* (*form)(std::size_t, const void*), std::size_t bytes,
                       const void* quiet) {
  return form != nullptr ? form(bytes, quiet) : next.malloc(bytes != 0 ? bytes : 1);
}

void* next_new_aligned(void* (*form)(std::size_t, std::size_t), std::size_t bytes,
                       std::size_t alignment) {
  if (form != nullptr) return form(bytes, alignment);
  void* const block = next.memalign(alignment, bytes != 0 ? bytes : 1);
  return block != nullptr ? block : out_of_memory("_ZnwmSt11align_val_t", bytes, alignment);
}

void* next_new_aligned_quietly(void* (*form)(std::size_t, std::size_t, const void*),
                               std::size_t bytes, std::size_t alignment, const void* quiet) {
  if (form != nullptr) return form(bytes, alignment, quiet);
  return next.memalign(alignment, bytes != 0 ? bytes : 1);
}

}  // namespace ebb::sites
