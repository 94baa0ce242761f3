// SPDX-License-Identifier: Apache-2.0
#include "sites/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>

#include "sites/unwind_rule.h"

namespace ebb::sites {
namespace {

/// As <dlfcn.h> of glibc 2.35 and later has it.
struct FoundObject {
  unsigned long long flags;
  void* start;
  void* end;
  link_map* map;
  void* eh_frame;
  unsigned long long reserved[7];
};
using FindObject = int (*)(void*, FoundObject*);
FindObject find_object = nullptr;

// What the loader calls "" has a name too.
char program_path[1024];

// A frame larger than this is no frame.
constexpr std::uint64_t kLargestFrame = std::uint64_t{16} << 20;

/// Rules that were worked out, by the address they are for. A line that two threads write at once
/// fits neither address.
struct CachedRule {
  std::atomic<std::uint64_t> check;  ///< pc ^ packed ^ function
  std::atomic<std::uint64_t> packed;
  std::atomic<std::uint64_t> function;
};
constexpr std::size_t kCached = 2048;
CachedRule cache[kCached];

std::uint64_t packed(const UnwindRule& rule) {
  return static_cast<std::uint32_t>(rule.offset) |
         std::uint64_t{static_cast<std::uint16_t>(rule.saved_offset)} << 32 |
         std::uint64_t{static_cast<std::uint8_t>(rule.base)} << 48 |
         std::uint64_t{static_cast<std::uint8_t>(rule.saved)} << 56;
}

UnwindRule unpacked(std::uint64_t bits, std::uint64_t function) {
  UnwindRule rule;
  rule.offset = static_cast<std::int32_t>(bits & 0xFFFFFFFF);
  rule.saved_offset = static_cast<std::int16_t>(bits >> 32 & 0xFFFF);
  rule.base = static_cast<UnwindRule::Base>(bits >> 48 & 0xFF);
  rule.saved = static_cast<UnwindRule::Saved>(bits >> 56);
  rule.function = function;
  return rule;
}

CachedRule& cached(std::uint64_t pc) {
  return cache[(pc ^ pc >> 11) % kCached];
}

bool recall(std::uint64_t pc, UnwindRule* rule) {
  const CachedRule& line = cached(pc);
  const std::uint64_t bits = line.packed.load(std::memory_order_relaxed);
  const std::uint64_t function = line.function.load(std::memory_order_relaxed);
  if (line.check.load(std::memory_order_relaxed) != (pc ^ bits ^ function)) return false;
  *rule = unpacked(bits, function);
  return true;
}

void remember(std::uint64_t pc, const UnwindRule& rule) {
  CachedRule& line = cached(pc);
  const std::uint64_t bits = packed(rule);
  line.check.store(pc ^ bits ^ rule.function, std::memory_order_relaxed);
  line.packed.store(bits, std::memory_order_relaxed);
  line.function.store(rule.function, std::memory_order_relaxed);
}

/// The module of the last address, which the next one often lies in too.
struct LoadedCode {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  const unsigned char* eh_frame_hdr = nullptr;

  bool holds(std::uint64_t pc) const { return pc >= start && pc < end; }

  bool find(std::uint64_t pc, Table* table) {
    if (holds(pc)) return true;
    FoundObject found{};
    if (find_object == nullptr || find_object(reinterpret_cast<void*>(pc), &found) != 0)
      return false;
    start = reinterpret_cast<std::uint64_t>(found.start);
    end = reinterpret_cast<std::uint64_t>(found.end);
    eh_frame_hdr = static_cast<const unsigned char*>(found.eh_frame);
    const char* const name = found.map->l_name;
    if (table != nullptr)
      table->add_module(start, end, found.map->l_addr, name[0] != '\0' ? name : program_path);
    return true;
  }
};

/// One call outwards; false where there is no more, or where it cannot be told.
bool leave(const UnwindRule& rule, Readable& memory, Place& place) {
  std::uint64_t frame = 0;
  switch (rule.base) {
    case UnwindRule::Base::none:
      return false;
    case UnwindRule::Base::sp:
      frame = place.sp;
      break;
    case UnwindRule::Base::fp:
    case UnwindRule::Base::fp_deref:
      frame = place.fp;
      break;
  }
  frame += static_cast<std::uint64_t>(std::int64_t{rule.offset});
  if (rule.base == UnwindRule::Base::fp_deref && !memory.read(frame, &frame)) return false;
  if (frame <= place.sp || frame - place.sp > kLargestFrame || frame % 8 != 0) return false;
  std::uint64_t back = 0;
  if (!memory.read(frame - 8, &back) || back == 0) return false;
  if (rule.saved != UnwindRule::Saved::same) {
    const std::uint64_t from = rule.saved == UnwindRule::Saved::frame ? frame : place.fp;
    if (!memory.read(from + static_cast<std::uint64_t>(std::int64_t{rule.saved_offset}), &place.fp))
      return false;
  }
  place.sp = frame;
  place.pc = back;
  return true;
}

/// In code without tables: a frame pointer that points up the stack is taken for one.
UnwindRule by_frame_pointer(const Place& place) {
  UnwindRule rule;
  if (place.fp < place.sp || place.fp - place.sp > kLargestFrame) return rule;
  rule.base = UnwindRule::Base::fp;
  rule.offset = 16;
  rule.saved = UnwindRule::Saved::frame;
  rule.saved_offset = -16;
  return rule;
}

}  // namespace

void Unwinder::prepare() {
  const ssize_t length = ::readlink("/proc/self/exe", program_path, sizeof program_path - 1);
  program_path[length > 0 ? length : 0] = '\0';
  find_object = reinterpret_cast<FindObject>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

std::size_t Unwinder::walk(Place place, std::uint64_t skipped, Readable& memory, Table* table,
                           std::uint64_t* calls, std::size_t most, bool* is_joined) const {
  LoadedCode module;
  LoadedCode own;
  own.find(skipped, nullptr);
  std::size_t count = 0;
  *is_joined = false;
  bool is_return = false;
  // Our own frames are few.
  for (std::size_t steps = 0; steps < most + 16; ++steps) {
    // A return address lies behind its call, perhaps in the next function already.
    const std::uint64_t pc = place.pc - (is_return ? 1 : 0);
    const bool is_known = module.find(pc, table);
    UnwindRule rule;
    if (is_known && module.eh_frame_hdr != nullptr && !recall(pc, &rule)) {
      rule = rule_at(pc, module.eh_frame_hdr);
      remember(pc, rule);
    }
    if (rule.function != 0 && rule.function == stop_) {
      *is_joined = true;
      break;
    }
    if (is_return && !own.holds(pc)) {
      if (count == most) break;
      calls[count++] = place.pc;
    }
    if (rule.function == 0) rule = by_frame_pointer(place);
    if (!leave(rule, memory, place)) break;
    is_return = true;
  }
  return count;
}

}  // namespace ebb::sites
