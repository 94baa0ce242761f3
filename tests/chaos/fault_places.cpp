// SPDX-License-Identifier: Apache-2.0
#include "fault_places.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace {

constexpr std::size_t kPlaces = 4096;
std::atomic<std::uintptr_t> places[kPlaces];

constexpr std::size_t kEnough = 2;    // callers that are no library's
constexpr std::size_t kDeepest = 24;  // callers in all
constexpr std::size_t kLongest = 400;

/// A place and its callers, as addresses.
struct Stack {
  std::uintptr_t innermost = 0;
  std::uintptr_t callers[kDeepest] = {};
  std::size_t count = 0;
};

_Unwind_Reason_Code add_caller(_Unwind_Context* frame, void* to) {
  auto& stack = *static_cast<Stack*>(to);
  const std::uintptr_t place = _Unwind_GetIP(frame);
  if (stack.count == 0 && place != stack.innermost) return _URC_NO_REASON;  // the shim itself
  stack.callers[stack.count++] = place;
  return stack.count < kDeepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

Stack stack_of(const void* caller, bool with_callers) {
  Stack stack;
  stack.innermost = reinterpret_cast<std::uintptr_t>(caller);
  if (with_callers) _Unwind_Backtrace(add_caller, &stack);
  if (stack.count == 0) stack.callers[stack.count++] = stack.innermost;
  return stack;
}

bool is_library(const char* name) {
  return std::strncmp(name, "libstdc++", 9) == 0 || std::strncmp(name, "libsqlite3", 10) == 0;
}

void name_stack(char* to, std::size_t room, const Stack& stack) {
  std::size_t length = 0;
  std::size_t own = 0;
  for (std::size_t i = 0; i < stack.count && own < kEnough; ++i) {
    const std::uintptr_t place = stack.callers[i];
    // As dladdr, which also looks for the nearest symbol: a hundred times slower.
    dl_find_object object{};
    const bool known = ::_dl_find_object(reinterpret_cast<void*>(place), &object) == 0;
    const char* slash = known ? std::strrchr(object.dlfo_link_map->l_name, '/') : nullptr;
    const char* name = slash != nullptr ? slash + 1 : "ebb";
    if (!is_library(name)) {
      ++own;
    } else if (i > 0) {
      continue;
    }
    const std::uintptr_t base = known ? object.dlfo_link_map->l_addr : 0;
    const int more = std::snprintf(to + length, room - length, "%s%s+%#" PRIxPTR, i == 0 ? "" : "<",
                                   name, place - base);
    if (more < 0 || static_cast<std::size_t>(more) >= room - length) break;
    length += static_cast<std::size_t>(more);
  }
  to[length] = '\0';
}

std::uint64_t hash_of(const void* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3ULL;
  return hash;
}

/// Hashes of names by those of the addresses: the same ones come again and again.
struct Known {
  std::atomic<std::uint64_t> stack;
  std::atomic<std::uint64_t> name;
};
constexpr std::size_t kKnown = 1 << 15;
Known known_stacks[kKnown];

}  // namespace

bool is_new_place(const void* caller) {
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = place % kPlaces, tried = 0; tried < kPlaces;
       i = (i + 1) % kPlaces, ++tried) {
    std::uintptr_t nobody = 0;
    if (places[i].compare_exchange_strong(nobody, place)) return true;
    if (nobody == place) return false;
  }
  return false;
}

void name_place(char* to, std::size_t room, const void* caller, bool with_callers) {
  name_stack(to, room, stack_of(caller, with_callers));
}

std::uint64_t hash_of_place(const void* caller) {
  const Stack stack = stack_of(caller, true);
  const std::uint64_t of_stack = hash_of(stack.callers, stack.count * sizeof *stack.callers);
  Known& known = known_stacks[of_stack % kKnown];
  std::uint64_t nobody = 0;
  const bool is_ours = known.stack.compare_exchange_strong(nobody, of_stack) || nobody == of_stack;
  if (is_ours && known.name != 0) return known.name;
  char name[kLongest];
  name_stack(name, sizeof name, stack);
  const std::uint64_t of_name = hash_of(name, std::strlen(name));
  if (is_ours) known.name = of_name;
  return of_name;
}
