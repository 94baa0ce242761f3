// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

// The job's own allocator, behind libebb-sites.so: the definitions that come next in the order in
// which the dynamic linker looks. Found once, when the first of them is called.

namespace ebb::sites {

struct NextCalls {
  void* (*malloc)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  void* (*calloc)(std::size_t, std::size_t) = nullptr;
  void* (*realloc)(void*, std::size_t) = nullptr;
  int (*posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
  void* (*aligned_alloc)(std::size_t, std::size_t) = nullptr;
  void* (*memalign)(std::size_t, std::size_t) = nullptr;
  void* (*valloc)(std::size_t) = nullptr;
  void* (*pvalloc)(std::size_t) = nullptr;
  void* (*mmap)(void*, std::size_t, int, int, int, off_t) = nullptr;
  int (*munmap)(void*, std::size_t) = nullptr;
  void* (*mremap)(void*, std::size_t, std::size_t, int, ...) = nullptr;
  // Null where no C++ library is loaded with the program.
  void* (*new_one)(std::size_t) = nullptr;
  void* (*new_array)(std::size_t) = nullptr;
  void* (*new_one_quietly)(std::size_t, const void*) = nullptr;
  void* (*new_array_quietly)(std::size_t, const void*) = nullptr;
  void* (*new_one_aligned)(std::size_t, std::size_t) = nullptr;
  void* (*new_array_aligned)(std::size_t, std::size_t) = nullptr;
  void* (*new_one_aligned_quietly)(std::size_t, std::size_t, const void*) = nullptr;
  void* (*new_array_aligned_quietly)(std::size_t, std::size_t, const void*) = nullptr;
  void (*delete_one)(void*) = nullptr;
  void (*delete_array)(void*) = nullptr;
  void (*delete_one_sized)(void*, std::size_t) = nullptr;
  void (*delete_array_sized)(void*, std::size_t) = nullptr;
  void (*delete_one_quietly)(void*, const void*) = nullptr;
  void (*delete_array_quietly)(void*, const void*) = nullptr;
  void (*delete_one_aligned)(void*, std::size_t) = nullptr;
  void (*delete_array_aligned)(void*, std::size_t) = nullptr;
  void (*delete_one_sized_aligned)(void*, std::size_t, std::size_t) = nullptr;
  void (*delete_array_sized_aligned)(void*, std::size_t, std::size_t) = nullptr;
  void (*delete_one_aligned_quietly)(void*, std::size_t, const void*) = nullptr;
  void (*delete_array_aligned_quietly)(void*, std::size_t, const void*) = nullptr;
};
/// Before they are found, those of C are functions that find them first.
extern NextCalls next;

/// Finds them; also by itself with the first call.
void resolve();

/// Whether code at `address` is the allocator's own.
bool is_in_allocator(const void* address);

/// Whether the next operator new does not reach malloc by its name, so that its blocks have to be
/// counted where it is called; the same of the forms with an alignment. Both are provided by the
/// hooks.
extern bool new_is_counted;
extern bool aligned_new_is_counted;

/// Blocks from the time when the next calls were being found: the loader's own, for messages. They
/// are never given back.
bool is_early(const void* block);
void* early_realloc(void* block, std::size_t bytes);
/// Provided by the hooks: whoever frees or moves this block has to ask is_early() first.
void mark_early(const void* block);

// The operators where a form is there, else what the C++ library would do on malloc.
void* next_new(void* (*form)(std::size_t), std::size_t bytes);
void* next_new_quietly(void* (*form)(std::size_t, const void*), std::size_t bytes,
                       const void* quiet);
void* next_new_aligned(void* (*form)(std::size_t, std::size_t), std::size_t bytes,
                       std::size_t alignment);
void* next_new_aligned_quietly(void* (*form)(std::size_t, std::size_t, const void*),
                               std::size_t bytes, std::size_t alignment, const void* quiet);

}  // namespace ebb::sites
