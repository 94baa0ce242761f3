// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/text.h"
#include "heap/allocators.h"
#include "heap/control.h"

namespace ebb::heap {
namespace {

using Mallctl = int (*)(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                        std::size_t new_size);

/// MALLCTL_ARENAS_ALL of jemalloc 5: "every arena" in a name.
constexpr int kAllArenas = 4096;

/// Control names are typed by their C type; a wrong size is refused by jemalloc, not read past.
class Control {
 public:
  explicit Control(Mallctl mallctl) : mallctl_(mallctl) {}

  template <class T>
  std::optional<T> get(const std::string& name) const {
    T value{};
    std::size_t size = sizeof value;
    if (mallctl_(name.c_str(), &value, &size, nullptr, 0) != 0 || size != sizeof value)
      return std::nullopt;
    return value;
  }

  template <class T>
  bool set(const std::string& name, T value) const {
    return mallctl_(name.c_str(), nullptr, nullptr, &value, sizeof value) == 0;
  }

  bool call(const std::string& name) const {
    return mallctl_(name.c_str(), nullptr, nullptr, nullptr, 0) == 0;
  }

 private:
  Mallctl mallctl_;
};

class Jemalloc final : public HostAllocator {
 public:
  explicit Jemalloc(Mallctl mallctl) : control_(mallctl) {}

  AllocatorKind kind() const override { return AllocatorKind::jemalloc; }
  bool controllable() const override { return true; }

  std::string version() const override {
    const auto text = control_.get<const char*>("version");
    return text && *text != nullptr ? *text : "";
  }

  HeapReading read() override {
    HeapReading reading;
    control_.set<std::uint64_t>("epoch", 1);  // statistics stand still until this
    const std::uint64_t page = control_.get<std::size_t>("arenas.page").value_or(4096);
    const std::string arenas = base::format_text("stats.arenas.%d.", kAllArenas);
    const auto dirty = control_.get<std::size_t>(arenas + "pdirty");
    const auto muzzy = control_.get<std::size_t>(arenas + "pmuzzy");
    if (dirty) reading.releasable = (*dirty + muzzy.value_or(0)) * page;
    if (const auto pages = control_.get<std::size_t>(arenas + "pactive"))
      reading.active = *pages * page;
    if (!control_.get<bool>("config.stats").value_or(false)) {
      reading.cannot_tell.push_back(
          "live, retained, mapped: jemalloc was built without statistics");
      return reading;
    }
    const auto allocated = control_.get<std::size_t>("stats.allocated");
    const auto active = control_.get<std::size_t>("stats.active");
    if (allocated) reading.live = *allocated;
    if (const auto mapped = control_.get<std::size_t>("stats.mapped")) reading.mapped = *mapped;
    if (allocated && active && reading.releasable) {
      const std::uint64_t inside_pages = *active > *allocated ? *active - *allocated : 0;
      reading.retained = inside_pages + *reading.releasable;
      reading.details.push_back({"active - allocated", inside_pages});
    }
    if (dirty) reading.details.push_back({"dirty", *dirty * page});
    if (muzzy) reading.details.push_back({"muzzy", *muzzy * page});
    add_detail(reading, "resident (upper bound)", "stats.resident");
    add_detail(reading, "metadata", "stats.metadata");
    if (const auto count = control_.get<unsigned>("arenas.narenas"))
      reading.details.push_back({"arenas", *count});
    return reading;
  }

  GiveBack give_back(fact::Depth depth) override {
    GiveBack result;
    result.depth = depth;
    result.attempted = true;
    if (control_.call("thread.tcache.flush")) result.steps.emplace_back("thread.tcache.flush");
    const std::string purge = base::format_text("arena.%d.purge", kAllArenas);
    if (control_.call(purge)) {
      result.steps.push_back(purge);
    } else {
      result.notes.push_back(purge + " was refused");
    }
    if (depth == fact::Depth::deep)
      result.notes.emplace_back("thread caches of other threads cannot be flushed from here");
    return result;
  }

  std::string set_pressure(bool on) override {
    base::Lock lock(mutex_);
    if (on == !saved_decay_.empty()) return {};
    if (!on) {
      for (const auto& [name, value] : saved_decay_)
        control_.set<ssize_t>(name, value);
      saved_decay_.clear();
      return "decay times restored";
    }
    std::vector<std::string> names{"arenas.dirty_decay_ms", "arenas.muzzy_decay_ms"};
    for (unsigned i = 0; i < control_.get<unsigned>("arenas.narenas").value_or(0); ++i) {
      names.push_back(base::format_text("arena.%u.dirty_decay_ms", i));
      names.push_back(base::format_text("arena.%u.muzzy_decay_ms", i));
    }
    for (const std::string& name : names) {
      const auto before = control_.get<ssize_t>(name);
      if (before && control_.set<ssize_t>(name, 0)) saved_decay_.emplace_back(name, *before);
    }
    return saved_decay_.empty() ? "" : "decay set to 0 until the pressure ends";
  }

 private:
  void add_detail(HeapReading& reading, const char* label, const char* name) const {
    if (const auto value = control_.get<std::size_t>(name))
      reading.details.push_back({label, *value});
  }

  const Control control_;
  base::ForkMutex mutex_{2};
  std::vector<std::pair<std::string, ssize_t>> saved_decay_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<HostAllocator> make_jemalloc(const Detection& detection) {
  const auto mallctl = control_function<Mallctl>(detection, detection.identity.prefix + "mallctl");
  if (mallctl == nullptr) return nullptr;
  // A shim that only bears the name does not know its own version.
  if (!Control(mallctl).get<const char*>("version")) return nullptr;
  return std::make_unique<Jemalloc>(mallctl);
}

}  // namespace ebb::heap
