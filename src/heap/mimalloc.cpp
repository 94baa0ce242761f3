// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"
#include "base/text.h"
#include "heap/allocators.h"
#include "heap/control.h"

namespace ebb::heap {
namespace {

struct MimallocFunctions {
  void (*collect)(bool force);
  void* (*allocate)(std::size_t size);
  void* (*allocate_aligned)(std::size_t size, std::size_t alignment);
  void (*free)(void* block);
  int (*version)();
  void (*process_info)(std::size_t* elapsed, std::size_t* user, std::size_t* system,
                       std::size_t* rss, std::size_t* peak_rss, std::size_t* commit,
                       std::size_t* peak_commit, std::size_t* faults);
  long (*option_get)(int option);
  void (*option_set)(int option, long value);
};

/// mi_option_decommit_delay in 2.0, mi_option_purge_delay from 2.1 on: one number, kept by
/// mimalloc for binary compatibility.
constexpr int kPurgeDelay = 15;
constexpr std::size_t kTouched = 64;

class Mimalloc final : public HostAllocator {
 public:
  explicit Mimalloc(const MimallocFunctions& functions) : call_(functions) {}

  AllocatorKind kind() const override { return AllocatorKind::mimalloc; }
  bool controllable() const override { return true; }

  std::string version() const override {
    if (call_.version == nullptr) return {};
    const int number = call_.version();  // 209 is 2.0.9
    return base::format_text("%d.%d.%d", number / 100, number / 10 % 10, number % 10);
  }

  HeapReading read() override {
    HeapReading reading;
    reading.cannot_tell.emplace_back(
        "live, retained: mimalloc counts them only in its statistics builds");
    if (call_.process_info == nullptr) {
      reading.cannot_tell.emplace_back("mapped: this mimalloc has no mi_process_info");
      return reading;
    }
    std::size_t elapsed = 0, user = 0, system = 0, rss = 0, peak_rss = 0;
    std::size_t commit = 0, peak_commit = 0, faults = 0;
    call_.process_info(&elapsed, &user, &system, &rss, &peak_rss, &commit, &peak_commit, &faults);
    reading.mapped = commit;
    reading.details.push_back({"peak commit", peak_commit});
    return reading;
  }

  GiveBack give_back(fact::Depth depth) override {
    GiveBack result;
    result.depth = depth;
    result.attempted = true;
    touch();
    call_.collect(true);
    result.steps.emplace_back("mi_collect(true)");
    result.notes.emplace_back(
        "mimalloc gives back only from the calling thread's heap and from threads that ended; "
        "start the job with the purge delay of 0 that `ebb env` prints");
    return result;
  }

  std::string set_pressure(bool on) override {
    base::Lock lock(mutex_);
    if (on == under_pressure_ || call_.option_set == nullptr || call_.option_get == nullptr)
      return {};
    if (on) delay_before_ = call_.option_get(kPurgeDelay);
    call_.option_set(kPurgeDelay, on ? 0 : delay_before_);
    under_pressure_ = on;
    return on ? "purge delay set to 0 until the pressure ends" : "purge delay restored";
  }

 private:
  /// On a thread that never allocated from it, collecting does nothing at all; on one that has, it
  /// purges what every thread has freed (mimalloc 3).
  void touch() const {
    if (call_.free == nullptr) return;
    if (call_.allocate != nullptr) {
      call_.free(call_.allocate(kTouched));
    } else if (call_.allocate_aligned != nullptr) {
      call_.free(call_.allocate_aligned(kTouched, kTouched));
    }
  }

  const MimallocFunctions call_;
  base::ForkMutex mutex_{2};
  bool under_pressure_ EBB_GUARDED_BY(mutex_) = false;
  long delay_before_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<HostAllocator> make_mimalloc(const Detection& detection) {
  const auto find = [&]<class F>(F& function, const char* name) {
    function = control_function<F>(detection, detection.identity.prefix + name);
  };
  MimallocFunctions functions{};
  find(functions.collect, "mi_collect");
  find(functions.allocate, "mi_malloc");
  find(functions.allocate_aligned, "mi_malloc_aligned");
  find(functions.free, "mi_free");
  find(functions.version, "mi_version");
  find(functions.process_info, "mi_process_info");
  find(functions.option_get, "mi_option_get");
  find(functions.option_set, "mi_option_set");
  if (functions.collect == nullptr) return nullptr;
  return std::make_unique<Mimalloc>(functions);
}

}  // namespace ebb::heap
