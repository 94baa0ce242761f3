// SPDX-License-Identifier: Apache-2.0
// Where exceptions of the shared objects that live in other people's processes (the agent, libebb)
// lie: compiled into those two alone, which carry their own hidden C++ runtime. The runtime's own
// functions of these names end the process where malloc gives nothing and what they had put aside
// with malloc, at some moment while the library was loaded, is not there. Here it is always there.
// That is libstdc++; libc++ has a place that needs no malloc.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>

#ifdef __GLIBCXX__

namespace {

/// What the runtime keeps in front of a thrown object is about half of it (128 bytes in libstdc++).
constexpr std::size_t kHeader = 256;
/// Ours are a few words large, and hardly ever is more than one of a thread in flight.
constexpr std::size_t kPlaceBytes = 1024;
constexpr std::size_t kPlaces = 64;

struct alignas(std::max_align_t) Place {
  std::byte bytes[kPlaceBytes];
};

constinit std::array<Place, kPlaces> places{};
constinit std::array<std::atomic<bool>, kPlaces> taken{};

void* place_for(std::size_t bytes) {
  if (bytes > kPlaceBytes) return nullptr;
  for (std::size_t i = 0; i < kPlaces; ++i)
    if (!taken[i].exchange(true)) return places[i].bytes;
  return nullptr;
}

/// Zeroed, as the runtime expects of its header.
void* take(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) memory = place_for(bytes);
  if (memory == nullptr) std::terminate();
  return std::memset(memory, 0, bytes);
}

void give(void* memory) {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    if (memory != places[i].bytes) continue;
    taken[i] = false;
    return;
  }
  std::free(memory);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the C++ runtime's names
extern "C" {

void* __cxa_allocate_exception(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(take(kHeader + bytes)) + kHeader;
}

void __cxa_free_exception(void* thrown) noexcept {
  give(static_cast<std::byte*>(thrown) - kHeader);
}

// Those that refer to another one (std::rethrow_exception).
void* __cxa_allocate_dependent_exception() noexcept {
  return take(kHeader);
}

void __cxa_free_dependent_exception(void* reference) noexcept {
  give(reference);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

#endif  // __GLIBCXX__
