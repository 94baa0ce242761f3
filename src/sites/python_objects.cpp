// SPDX-License-Identifier: Apache-2.0
#include "sites/python_objects.h"

#include <dlfcn.h>

#include <utility>

#include "sites/counting.h"

namespace ebb::sites {
namespace {

/// PyMemAllocatorEx and PyObjectArenaAllocator, which are the same in every CPython since 3.5.
struct ObjectAllocator {
  void* context;
  void* (*malloc)(void* context, std::size_t bytes);
  void* (*calloc)(void* context, std::size_t count, std::size_t each);
  void* (*realloc)(void* context, void* block, std::size_t bytes);
  void (*free)(void* context, void* block);
};
struct ArenaAllocator {
  void* context;
  void* (*allocate)(void* context, std::size_t bytes);
  void (*free)(void* context, void* arena, std::size_t bytes);
};

// PyMemAllocatorDomain.
constexpr int kMem = 1, kObj = 2;
/// What is larger comes from malloc.
constexpr std::size_t kLargestObject = 512;

// Written under the interpreter's lock before anything of them is called, and never again.
ObjectAllocator next_mem;
ObjectAllocator next_obj;
ArenaAllocator next_arenas;

/// Counts what did not come from malloc, which would have taken it off what this thread had left
/// `before`.
inline void* counted_here(void* block, std::size_t bytes, std::int64_t before) {
  if (bytes > kLargestObject || this_thread.left != before) return block;
  return counted(block, bytes);
}

void* take(void* context, std::size_t bytes) {
  const auto& behind = *static_cast<const ObjectAllocator*>(context);
  const std::int64_t before = this_thread.left;
  return counted_here(behind.malloc(behind.context, bytes), bytes, before);
}

void* take_zeroed(void* context, std::size_t count, std::size_t each) {
  const auto& behind = *static_cast<const ObjectAllocator*>(context);
  const std::int64_t before = this_thread.left;
  std::size_t bytes = 0;
  void* const block = behind.calloc(behind.context, count, each);
  if (__builtin_mul_overflow(count, each, &bytes)) return block;
  return counted_here(block, bytes, before);
}

void* resize(void* context, void* block, std::size_t bytes) {
  if (block == nullptr) return take(context, bytes);
  const auto& behind = *static_cast<const ObjectAllocator*>(context);
  Table::Kept kept{};
  const bool was_sampled = sampler.may_hold(block) && sampler.forget(block, &kept);
  const std::int64_t before = this_thread.left;
  void* const moved = behind.realloc(behind.context, block, bytes);
  if (moved != nullptr) return counted_here(moved, bytes, before);
  if (was_sampled) sampler.restore(block, kept);
  return nullptr;
}

void give_back(void* context, void* block) {
  const auto& behind = *static_cast<const ObjectAllocator*>(context);
  if (sampler.may_hold(block)) [[unlikely]] {
    Table::Kept kept;
    static_cast<void>(sampler.forget(block, &kept));
  }
  behind.free(behind.context, block);
}

void* take_arena(void* /*context*/, std::size_t bytes) {
  void* arena = nullptr;
  uncounted([&] { arena = next_arenas.allocate(next_arenas.context, bytes); });
  return arena;
}

void give_arena_back(void* /*context*/, void* arena, std::size_t bytes) {
  next_arenas.free(next_arenas.context, arena, bytes);
}

template <class Function>
bool export_of_python(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace

bool begin_python_objects() {
  void (*get)(int domain, ObjectAllocator*) = nullptr;
  void (*set)(int domain, ObjectAllocator*) = nullptr;
  void (*get_arenas)(ArenaAllocator*) = nullptr;
  void (*set_arenas)(ArenaAllocator*) = nullptr;
  if (!export_of_python(get, "PyMem_GetAllocator") ||
      !export_of_python(set, "PyMem_SetAllocator") ||
      !export_of_python(get_arenas, "PyObject_GetArenaAllocator") ||
      !export_of_python(set_arenas, "PyObject_SetArenaAllocator") || next_obj.malloc != nullptr)
    return false;
  get_arenas(&next_arenas);
  ArenaAllocator arenas{nullptr, take_arena, give_arena_back};
  set_arenas(&arenas);
  for (auto [domain, behind] : {std::pair(kMem, &next_mem), std::pair(kObj, &next_obj)}) {
    get(domain, behind);
    ObjectAllocator ours{behind, take, take_zeroed, resize, give_back};
    set(domain, &ours);
  }
  return true;
}

}  // namespace ebb::sites
