// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/fork.h"
#include "base/text.h"
#include "heap/allocators.h"
#include "heap/control.h"

namespace ebb::heap {
namespace {

/// gperftools' C interface (malloc_extension_c.h and tcmalloc.h).
struct TcmallocFunctions {
  int (*get_numeric_property)(const char* name, std::size_t* value);
  void (*release_free_memory)();
  void (*flush_thread_cache)();
  int (*set_numeric_property)(const char* name, std::size_t value);
  const char* (*version)(int* major, int* minor, const char** patch);
};

constexpr const char* kDecommit = "tcmalloc.aggressive_memory_decommit";

class Tcmalloc final : public HostAllocator {
 public:
  explicit Tcmalloc(const TcmallocFunctions& functions) : call_(functions) {}

  AllocatorKind kind() const override { return AllocatorKind::tcmalloc; }
  bool controllable() const override { return true; }

  std::string version() const override {
    if (call_.version == nullptr) return {};
    int major = 0;
    int minor = 0;
    const char* patch = "";
    const char* text = call_.version(&major, &minor, &patch);
    return text != nullptr ? text : base::format_text("gperftools %d.%d%s", major, minor, patch);
  }

  HeapReading read() override {
    HeapReading reading;
    const auto heap = property("generic.heap_size");
    const auto unmapped = property("tcmalloc.pageheap_unmapped_bytes");
    reading.live = property("generic.current_allocated_bytes");
    reading.releasable = property("tcmalloc.pageheap_free_bytes");
    if (heap && unmapped) reading.mapped = *heap - std::min(*heap, *unmapped);
    if (reading.mapped && reading.live)
      reading.retained = *reading.mapped - std::min(*reading.mapped, *reading.live);
    add_detail(reading, "page heap, free", "tcmalloc.pageheap_free_bytes");
    add_detail(reading, "page heap, returned", "tcmalloc.pageheap_unmapped_bytes");
    add_detail(reading, "thread caches", "tcmalloc.current_total_thread_cache_bytes");
    add_detail(reading, "central cache", "tcmalloc.central_cache_free_bytes");
    add_detail(reading, "transfer cache", "tcmalloc.transfer_cache_free_bytes");
    return reading;
  }

  GiveBack give_back(fact::Depth depth) override {
    GiveBack result;
    result.depth = depth;
    result.attempted = true;
    if (call_.flush_thread_cache != nullptr) {
      call_.flush_thread_cache();
      result.steps.emplace_back("MallocExtension_MarkThreadTemporarilyIdle");
    }
    if (depth == fact::Depth::deep)
      result.notes.emplace_back("thread caches of other threads cannot be flushed from here");
    call_.release_free_memory();
    result.steps.emplace_back("MallocExtension_ReleaseFreeMemory");
    return result;
  }

  std::string set_pressure(bool on) override {
    base::Lock lock(mutex_);
    if (on == under_pressure_ || call_.set_numeric_property == nullptr) return {};
    if (on) decommit_before_ = property(kDecommit).value_or(0);
    if (call_.set_numeric_property(kDecommit, on ? 1 : decommit_before_) == 0) return {};
    under_pressure_ = on;
    return on ? "aggressive decommit until the pressure ends" : "decommit restored";
  }

 private:
  std::optional<std::uint64_t> property(const char* name) const {
    std::size_t value = 0;
    if (call_.get_numeric_property(name, &value) == 0) return std::nullopt;
    return value;
  }

  void add_detail(HeapReading& reading, const char* label, const char* name) const {
    if (const auto value = property(name)) reading.details.push_back({label, *value});
  }

  const TcmallocFunctions call_;
  base::ForkMutex mutex_{2};
  bool under_pressure_ EBB_GUARDED_BY(mutex_) = false;
  std::size_t decommit_before_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<HostAllocator> make_tcmalloc(const Detection& detection) {
  const auto find = [&]<class F>(F& function, const char* name) {
    function = control_function<F>(detection, name);
  };
  TcmallocFunctions functions{};
  find(functions.get_numeric_property, "MallocExtension_GetNumericProperty");
  find(functions.release_free_memory, "MallocExtension_ReleaseFreeMemory");
  find(functions.flush_thread_cache, "MallocExtension_MarkThreadTemporarilyIdle");
  find(functions.set_numeric_property, "MallocExtension_SetNumericProperty");
  find(functions.version, "tc_version");
  // google/tcmalloc has a C++ interface only and lacks these.
  if (functions.get_numeric_property == nullptr || functions.release_free_memory == nullptr)
    return nullptr;
  return std::make_unique<Tcmalloc>(functions);
}

}  // namespace ebb::heap
