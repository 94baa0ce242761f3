// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/fork.h"
#include "base/text.h"
#include "heap/allocators.h"
#include "heap/arena_sweep.h"
#include "heap/control.h"
#include "heap/glibc_arenas.h"

namespace ebb::heap {
namespace {

/// glibc's struct mallinfo2; declared here since headers before 2.33 lack it.
struct Mallinfo2 {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

struct GlibcFunctions {
  int (*trim)(std::size_t pad);
  int (*info)(int options, FILE* stream);
  const char* (*libc_version)();
  Mallinfo2 (*mallinfo2)();  // since 2.33
  SweepFunctions sweep;
};

/// Under pressure, blocks from here on are mapped on their own and go back the moment they are
/// freed; smaller ones, such as the buffers of a transfer, are still reused.
constexpr int kMappedAlone = 4 << 20;
/// The most that glibc takes, and what its threshold rises to by itself.
constexpr int kLargestThreshold = 32 << 20;

class Glibc final : public HostAllocator {
 public:
  explicit Glibc(const GlibcFunctions& functions) : call_(functions) {}

  AllocatorKind kind() const override { return AllocatorKind::glibc; }
  bool controllable() const override { return true; }
  std::string version() const override {
    return call_.libc_version != nullptr ? call_.libc_version() : "";
  }

  HeapReading read() override {
    HeapReading reading;
    std::optional<std::uint64_t> in_arenas;  // live bytes outside mappings of their own
    if (call_.mallinfo2 != nullptr) {
      const Mallinfo2 now = call_.mallinfo2();
      in_arenas = now.uordblks;
      reading.live = now.uordblks + now.hblkhd;
      reading.mapped = now.arena + now.hblkhd;
      reading.details = {{"mmapped", now.hblkhd}, {"free, resident or not", now.fordblks}};
    } else if (const std::optional<MallocInfo> info = malloc_info_now()) {
      in_arenas = info->system - std::min(info->system, info->free);
      reading.live = *in_arenas + info->mmapped;
      reading.mapped = info->system + info->mmapped;
      reading.details = {{"mmapped", info->mmapped}, {"free, resident or not", info->free}};
    }
    const base::Result<std::vector<Mapping>> mappings = read_own_mappings();
    if (mappings && in_arenas) {
      const std::vector<ArenaRange> heaps = arena_ranges(*mappings, read_own_memory);
      const std::uint64_t resident = resident_bytes(heaps);
      // Live memory that was never touched is not resident: never below zero.
      reading.retained = resident - std::min(resident, *in_arenas);
      reading.details.push_back({"resident in arenas", resident});
      reading.details.push_back({"arena heaps", heaps.size()});
    } else {
      reading.cannot_tell.push_back("retained: " +
                                    (mappings ? "no statistics" : mappings.error().message));
    }
    return reading;
  }

  GiveBack give_back(fact::Depth depth) override {
    GiveBack result;
    result.depth = depth;
    result.attempted = true;
    if (depth == fact::Depth::deep) sweep(result);
    result.native_result = call_.trim(0);
    result.steps.emplace_back("malloc_trim(0)");
    return result;
  }

  std::string set_pressure(bool on) override {
    base::Lock lock(mutex_);
    if (on == under_pressure_ || call_.sweep.mallopt == nullptr) return {};
    // A threshold that was set stays where it is: glibc no longer raises it with each block freed.
    if (call_.sweep.mallopt(kMmapThresholdOption, on ? kMappedAlone : kLargestThreshold) == 0)
      return {};
    under_pressure_ = on;
    return on ? "blocks of 4 MiB and more mapped on their own until the pressure ends"
              : "only blocks of 32 MiB and more mapped on their own";
  }

  bool share_arenas() override {
    return call_.sweep.mallopt != nullptr && call_.sweep.mallopt(kArenaMaxOption, 1) == 1;
  }

 private:
  std::optional<MallocInfo> malloc_info_now() const {
    if (call_.info == nullptr) return std::nullopt;
    char* text = nullptr;
    std::size_t size = 0;
    FILE* stream = open_memstream(&text, &size);
    if (stream == nullptr) return std::nullopt;
    call_.info(0, stream);
    std::fclose(stream);
    const std::optional<MallocInfo> info = parse_malloc_info({text, size});
    std::free(text);
    return info;
  }

  void sweep(GiveBack& result) const {
    const std::optional<MallocInfo> info = malloc_info_now();
    if (!info || call_.sweep.mallopt == nullptr) {
      result.notes.emplace_back("no arena sweep: this libc lacks malloc_info or mallopt");
      return;
    }
    if (info->arenas < 2) {
      result.notes.emplace_back("no arena sweep needed: there is only the main arena");
      return;
    }
    SweepResult swept = sweep_arenas(info->arenas, call_.sweep);
    result.steps.push_back(
        base::format_text("sweep of %u arenas by %u threads", info->arenas, swept.threads));
    result.notes.insert(result.notes.end(), swept.notes.begin(), swept.notes.end());
  }

  const GlibcFunctions call_;
  base::ForkMutex mutex_{2};
  bool under_pressure_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<HostAllocator> make_glibc(const Detection& detection) {
  const auto find = [&]<class F>(F& function, const char* name) {
    function = control_function<F>(detection, name);
  };
  GlibcFunctions functions{};
  find(functions.trim, "malloc_trim");
  find(functions.info, "malloc_info");
  find(functions.libc_version, "gnu_get_libc_version");
  find(functions.mallinfo2, "mallinfo2");
  find(functions.sweep.malloc, "malloc");
  find(functions.sweep.free, "free");
  find(functions.sweep.mallopt, "mallopt");
  if (functions.trim == nullptr) return nullptr;
  return std::make_unique<Glibc>(functions);
}

}  // namespace ebb::heap
