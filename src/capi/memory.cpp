// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "capi/cards.h"
#include "capi/runtime.h"
#include "sense/memory_info.h"

namespace {

using namespace ebb;
using capi::fail;
using capi::guarded;
using capi::runtime;

/// A hook of the C interface.
class CHook final : public base::Reclaimer {
 public:
  CHook(ebb_hook hook, void* context) : hook_(hook), context_(context) {}

  base::Reclaimed reclaim() override {
    base::Reclaimed reclaimed;
    base::Reclaimed* const outer = std::exchange(under_way, &reclaimed);
    reclaimed.ok = hook_(context_, &reclaimed.count) == 0;
    under_way = outer;
    reclaimed.detail = reclaimed.ok ? std::to_string(reclaimed.count) : "the hook failed";
    return reclaimed;
  }

  /// Of the hook that this thread is inside of; null outside.
  static thread_local base::Reclaimed* under_way;

 private:
  ebb_hook hook_;
  void* context_;
};

thread_local base::Reclaimed* CHook::under_way = nullptr;

base::Error null_argument(const char* name) {
  return base::error(base::Code::bad_input, "%s is null", name);
}

int without_ebb() {
  return fail(base::error(base::Code::unavailable,
                          "this process was forked while a lock of Ebb's was held too long: it "
                          "runs without Ebb"));
}

/// Unknown also where there is no memory to find it out with.
heap::AllocatorKind allocator_here() {
  heap::AllocatorKind kind = heap::AllocatorKind::unknown;
  guarded([&] {
    kind = heap::detect_here().kind();
    return static_cast<int>(EBB_OK);
  });
  return kind;
}

}  // namespace

const char* ebb_allocator(void) {
  return heap::name_of(allocator_here());
}

const char* ebb_allocator_nvflare(void) {
  return heap::nvflare_name_of(allocator_here());
}

int ebb_trim(void) {
  int answer = -1;
  guarded([&] {
    if (runtime().disabled()) return EBB_OK;
    answer = runtime().cleaner.trim().value_or(-1);
    return EBB_OK;
  });
  return answer;
}

uint64_t ebb_rss(void) {
  uint64_t rss = 0;
  guarded([&] {
    rss = runtime().cleaner.rss().value_or(0);
    return EBB_OK;
  });
  return rss;
}

int ebb_read_memory(ebb_memory_info* info) {
  return guarded([&] {
    if (info == nullptr) return fail(null_argument("info"));
    const std::uint32_t size = info->struct_size;
    if (size < 2 * sizeof(std::uint32_t)) {
      return fail(base::error(
          base::Code::bad_input,
          "ebb_memory_info.struct_size is %u: set it to sizeof(ebb_memory_info)", size));
    }
    const base::Result<sense::MemoryInfo> memory = sense::memory_info();
    if (!memory) return fail(memory.error());
    const heap::HeapReading reading = heap::host_allocator().read();
    const capi::CpuUse::Percent cpu = runtime().cpu.read();
    ebb_memory_info whole{};
    whole.known = (reading.live ? EBB_KNOWS_LIVE : 0U) |
                  (reading.retained ? EBB_KNOWS_RETAINED : 0U) |
                  (reading.mapped ? EBB_KNOWS_MAPPED : 0U) | (cpu.process ? EBB_KNOWS_CPU : 0U) |
                  (cpu.machine ? EBB_KNOWS_MACHINE_CPU : 0U);
    whole.rss_bytes = memory->process.rss;
    whole.hwm_bytes = memory->process.hwm.value_or(0);
    whole.live_bytes = reading.live.value_or(0);
    whole.retained_bytes = reading.retained.value_or(0);
    whole.mapped_bytes = reading.mapped.value_or(0);
    whole.limit_bytes = memory->limit;
    whole.percent = memory->percent;
    whole.cpu_percent = cpu.process.value_or(0);
    whole.machine_cpu_percent = cpu.machine.value_or(0);
    std::memcpy(info, &whole, std::min<std::size_t>(size, sizeof whole));
    info->struct_size = size;
    return static_cast<int>(EBB_OK);
  });
}

int ebb_cleanup(int cuda_empty_cache, ebb_cleanup_report* report) {
  return guarded([&] {
    base::Status stored;
    if (runtime().disabled()) {
      stored = capi::store_nothing(true, report);
    } else {
      const keep::CleanupReport done =
          runtime().cleaner.clean({.cuda_empty_cache = cuda_empty_cache != 0});
      stored = capi::store(done, report);
    }
    return stored ? static_cast<int>(EBB_OK) : fail(stored.error());
  });
}

int ebb_give_back_at_once(int on, int* changed) {
  return guarded([&] {
    if (changed != nullptr) *changed = 0;
    if (runtime().disabled()) return static_cast<int>(EBB_OK);
    runtime().at_once = on != 0;
    const std::string change = heap::host_allocator().set_pressure(on != 0);
    if (changed != nullptr && !change.empty()) *changed = 1;
    return static_cast<int>(EBB_OK);
  });
}

int ebb_hook_add(const char* name, int stage, ebb_hook hook, void* context, uint64_t* id) {
  return guarded([&] {
    if (name == nullptr) return fail(null_argument("name"));
    if (hook == nullptr) return fail(null_argument("hook"));
    if (stage < EBB_STAGE_COLLECTOR || stage > EBB_STAGE_DEVICE_READING)
      return fail(base::error(base::Code::bad_input, "stage %d: expected EBB_STAGE_…", stage));
    if (base::fork_lost()) return without_ebb();
    const auto added = runtime().reclaimers.add(name, static_cast<base::Stage>(stage),
                                                std::make_shared<CHook>(hook, context));
    if (id != nullptr) *id = added;
    return static_cast<int>(EBB_OK);
  });
}

int ebb_hook_device(uint32_t device, uint64_t before_bytes, uint64_t after_bytes) {
  return guarded([&] {
    if (CHook::under_way == nullptr)
      return fail(base::error(base::Code::bad_input, "ebb_hook_device: not called from a hook"));
    CHook::under_way->devices.push_back(
        base::DeviceChange::between(device, before_bytes, after_bytes));
    return static_cast<int>(EBB_OK);
  });
}

int ebb_hook_device_memory(uint32_t device, uint64_t total_bytes, uint64_t free_bytes,
                           uint64_t reserved_bytes, uint64_t cached_bytes) {
  return guarded([&] {
    if (total_bytes == 0 || free_bytes > total_bytes || cached_bytes > reserved_bytes) {
      return fail(base::error(base::Code::bad_input,
                              "ebb_hook_device_memory: expected free <= total and cached <= "
                              "reserved, and a device with memory"));
    }
    if (!capi::tell_card({device, {total_bytes, free_bytes, reserved_bytes, cached_bytes}})) {
      return fail(base::error(base::Code::bad_input,
                              "ebb_hook_device_memory: not called from a hook that tells"));
    }
    return static_cast<int>(EBB_OK);
  });
}

int ebb_hook_remove(uint64_t id) {
  return guarded([&] {
    if (base::fork_lost()) return without_ebb();
    if (runtime().reclaimers.remove(id)) return static_cast<int>(EBB_OK);
    return fail(base::error(base::Code::not_found, "no hook with id %llu",
                            static_cast<unsigned long long>(id)));
  });
}
