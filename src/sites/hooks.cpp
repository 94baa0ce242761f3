// SPDX-License-Identifier: Apache-2.0
// libebb-sites.so: stands before the job's allocator and hands every call on to it.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/truth_word.h"
#include "sites/counting.h"
#include "sites/next_calls.h"
#include "sites/python_objects.h"

#define EBB_EXPORT __attribute__((visibility("default")))

namespace ebb::sites {
constinit Sampler sampler;

namespace {

/// Before a block goes back. False where it is none of the allocator's.
[[gnu::noinline]] bool forget(void* block) {
  if (is_early(block)) return false;
  Table::Kept kept;
  static_cast<void>(sampler.forget(block, &kept));
  return true;
}
inline bool goes_back(void* block) {
  return !sampler.may_hold(block) || forget(block);
}

void look_at_new() {
  constexpr std::size_t kSome = 64;
  new_is_counted = next.new_one == nullptr || next.delete_one == nullptr ||
                   !uncounted([] { next.delete_one(next.new_one(kSome)); });
  aligned_new_is_counted =
      next.new_one_aligned == nullptr || next.delete_one_aligned == nullptr ||
      !uncounted([] { next.delete_one_aligned(next.new_one_aligned(kSome, kSome), kSome); });
}

[[gnu::constructor]] void begin() {
  resolve();
  look_at_new();
  const char* folder = ::getenv("EBB_SITES");
  if (folder == nullptr || folder[0] != '/' || ::getauxval(AT_SECURE) != 0) return;
  if (base::disables(::getenv("EBB_DISABLE"))) return;
  sampler.begin(folder);
}

/// A mapping that is memory for the program, not room for its allocator.
bool is_for_program(int protection, int flags, const void* caller) {
  return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_NORESERVE) == 0 &&
         (protection & PROT_WRITE) != 0 && !is_in_allocator(caller);
}

}  // namespace

bool new_is_counted = false;
bool aligned_new_is_counted = false;

void mark_early(const void* block) {
  sampler.mark(block);
}

}  // namespace ebb::sites

using namespace ebb::sites;

extern "C" {

EBB_EXPORT void* malloc(std::size_t bytes) {
  if (is_due(bytes)) [[unlikely]] {
    void* const block = next.malloc(bytes);
    if (block != nullptr) sampler.took(block, bytes);
    return block;
  }
  return next.malloc(bytes);
}

EBB_EXPORT void free(void* block) {
  if (goes_back(block)) next.free(block);
}

EBB_EXPORT void* calloc(std::size_t count, std::size_t each) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) bytes = 0;
  return counted(next.calloc(count, each), bytes);
}

EBB_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr) return counted(next.realloc(nullptr, bytes), bytes);
  Table::Kept kept{};
  bool was_sampled = false;
  if (sampler.may_hold(block)) [[unlikely]] {
    if (is_early(block)) return early_realloc(block, bytes);
    was_sampled = sampler.forget(block, &kept);
  }
  void* const moved = next.realloc(block, bytes);
  if (moved == nullptr) {
    if (was_sampled && bytes != 0) sampler.restore(block, kept);
    return nullptr;
  }
  return counted(moved, bytes);
}

EBB_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t each) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, bytes);
}

EBB_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int failed = next.posix_memalign(block, alignment, bytes);
  if (failed == 0) counted(*block, bytes);
  return failed;
}

EBB_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return counted(next.aligned_alloc(alignment, bytes), bytes);
}

EBB_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return counted(next.memalign(alignment, bytes), bytes);
}

EBB_EXPORT void* valloc(std::size_t bytes) {
  return counted(next.valloc(bytes), bytes);
}

EBB_EXPORT void* pvalloc(std::size_t bytes) {
  return counted(next.pvalloc(bytes), bytes);
}

EBB_EXPORT void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) {
  if ((flags & MAP_FIXED) != 0) goes_back(at);
  void* const made = next.mmap(at, bytes, protection, flags, file, offset);
  if (made != MAP_FAILED && is_for_program(protection, flags, __builtin_return_address(0)))
    counted(made, bytes);
  return made;
}
EBB_EXPORT void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file,
                        off_t offset) __attribute__((alias("mmap")));

EBB_EXPORT int munmap(void* at, std::size_t bytes) {
  goes_back(at);
  return next.munmap(at, bytes);
}

EBB_EXPORT void* mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  Table::Kept kept{};
  const bool was_sampled = sampler.may_hold(at) && sampler.forget(at, &kept);
  void* const moved = next.mremap(at, bytes, wanted, flags, to);
  if (moved == MAP_FAILED) {
    if (was_sampled) sampler.restore(at, kept);
  } else if (!is_in_allocator(__builtin_return_address(0))) {
    counted(moved, wanted);
  }
  return moved;
}

// For the start-up hook of Python, which looks them up.

/// 1 where calls in Python are read from now on (Sampler::begin_python).
EBB_EXPORT int ebb_sites_python(unsigned minor, void* (*this_python_thread)(), void* eval,
                                const char* file, const char* function, unsigned line) {
  return sampler.begin_python(minor, this_python_thread, reinterpret_cast<std::uint64_t>(eval),
                              file, function, line)
             ? 1
             : 0;
}

/// 1 where Python's small objects are sampled one by one from now on (begin_python_objects).
EBB_EXPORT int ebb_sites_python_objects() {
  return begin_python_objects() ? 1 : 0;
}

/// The interpreter is about to end.
EBB_EXPORT void ebb_sites_python_ends() {
  sampler.end_python();
}

// C++. Where the next operator calls malloc, that call is counted.

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define EBB_NEW(name, ...) EBB_EXPORT void* name(std::size_t bytes __VA_OPT__(, ) __VA_ARGS__)

EBB_NEW(_Znwm) {
  void* const block = next_new(next.new_one, bytes);
  return new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_Znam) {
  void* const block = next_new(next.new_array, bytes);
  return new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnwmRKSt9nothrow_t, const void* quiet) {
  void* const block = next_new_quietly(next.new_one_quietly, bytes, quiet);
  return new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnamRKSt9nothrow_t, const void* quiet) {
  void* const block = next_new_quietly(next.new_array_quietly, bytes, quiet);
  return new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnwmSt11align_val_t, std::size_t alignment) {
  void* const block = next_new_aligned(next.new_one_aligned, bytes, alignment);
  return aligned_new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnamSt11align_val_t, std::size_t alignment) {
  void* const block = next_new_aligned(next.new_array_aligned, bytes, alignment);
  return aligned_new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, std::size_t alignment, const void* quiet) {
  void* const block =
      next_new_aligned_quietly(next.new_one_aligned_quietly, bytes, alignment, quiet);
  return aligned_new_is_counted ? counted(block, bytes) : block;
}
EBB_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, std::size_t alignment, const void* quiet) {
  void* const block =
      next_new_aligned_quietly(next.new_array_aligned_quietly, bytes, alignment, quiet);
  return aligned_new_is_counted ? counted(block, bytes) : block;
}

#undef EBB_NEW

// A delete that the next objects do not define is free().
#define EBB_DELETE(name, place, parameters, ...)               \
  EBB_EXPORT void name parameters {                            \
    if (!goes_back(block)) return;                             \
    if (next.place != nullptr) return next.place(__VA_ARGS__); \
    next.free(block);                                          \
  }
EBB_DELETE(_ZdlPv, delete_one, (void* block), block)
EBB_DELETE(_ZdaPv, delete_array, (void* block), block)
EBB_DELETE(_ZdlPvm, delete_one_sized, (void* block, std::size_t bytes), block, bytes)
EBB_DELETE(_ZdaPvm, delete_array_sized, (void* block, std::size_t bytes), block, bytes)
EBB_DELETE(_ZdlPvRKSt9nothrow_t, delete_one_quietly, (void* block, const void* quiet), block, quiet)
EBB_DELETE(_ZdaPvRKSt9nothrow_t, delete_array_quietly, (void* block, const void* quiet), block,
           quiet)
EBB_DELETE(_ZdlPvSt11align_val_t, delete_one_aligned, (void* block, std::size_t alignment), block,
           alignment)
EBB_DELETE(_ZdaPvSt11align_val_t, delete_array_aligned, (void* block, std::size_t alignment), block,
           alignment)
EBB_DELETE(_ZdlPvmSt11align_val_t, delete_one_sized_aligned,
           (void* block, std::size_t bytes, std::size_t alignment), block, bytes, alignment)
EBB_DELETE(_ZdaPvmSt11align_val_t, delete_array_sized_aligned,
           (void* block, std::size_t bytes, std::size_t alignment), block, bytes, alignment)
EBB_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, delete_one_aligned_quietly,
           (void* block, std::size_t alignment, const void* quiet), block, alignment, quiet)
EBB_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, delete_array_aligned_quietly,
           (void* block, std::size_t alignment, const void* quiet), block, alignment, quiet)
#undef EBB_DELETE

}  // extern "C"
