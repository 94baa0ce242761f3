// SPDX-License-Identifier: Apache-2.0
#include "agent/python_arenas.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace ebb::agent {
namespace {

/// PyObjectArenaAllocator, which is the same in every Python since 3.4.
struct ArenaAllocator {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t size) = nullptr;
  void (*free)(void* context, void* arena, std::size_t size) = nullptr;
};

// Written under the interpreter's lock before anything of it is called, and never again.
ArenaAllocator pythons_own;
std::atomic<bool> is_counting{false};
// Below zero where arenas go that came before.
std::atomic<std::int64_t> counted{0};

void* allocate(void* /*context*/, std::size_t size) {
  void* const arena = pythons_own.allocate(pythons_own.context, size);
  if (arena != nullptr) counted.fetch_add(static_cast<std::int64_t>(size));
  return arena;
}

void free(void* /*context*/, void* arena, std::size_t size) {
  pythons_own.free(pythons_own.context, arena, size);
  counted.fetch_sub(static_cast<std::int64_t>(size));
}

}  // namespace

bool count_python_arenas() {
  using Exchange = void (*)(ArenaAllocator*);
  const auto get = reinterpret_cast<Exchange>(::dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator"));
  const auto set = reinterpret_cast<Exchange>(::dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator"));
  if (get == nullptr || set == nullptr || is_counting) return false;
  get(&pythons_own);
  if (pythons_own.allocate == nullptr || pythons_own.free == nullptr) return false;
  ArenaAllocator ours{nullptr, allocate, free};
  set(&ours);
  is_counting = true;
  return true;
}

std::optional<std::uint64_t> python_arenas() {
  if (!is_counting) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(counted, 0));
}

}  // namespace ebb::agent
