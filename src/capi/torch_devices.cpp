// SPDX-License-Identifier: Apache-2.0
#include "capi/torch_devices.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/bytes.h"
#include "capi/agent_link.h"
#include "capi/cards.h"
#include "capi/runtime.h"
#include "capi/torch_environment.h"

namespace ebb::capi {
namespace {

using base::Code;

const char* environment(const char* name) {
  return std::getenv(name);
}

base::Error after_fork() {
  return base::error(Code::unavailable,
                     "device memory was in use before this process was forked and cannot be used "
                     "in the child: start it afresh (in Python: the 'spawn' start method)");
}

/// What ebb_cleanup calls where it is to empty device caches.
class TorchCache final : public base::Reclaimer {
 public:
  base::Reclaimed reclaim() override {
    base::Reclaimed done;
    const std::vector<std::uint64_t> before = reserved();
    const base::Status emptied = torch_devices().empty_caches();
    const std::vector<std::uint64_t> after = reserved();
    done.ok = emptied.has_value();
    for (std::uint32_t device = 0; device < before.size(); ++device) {
      const auto change = base::DeviceChange::between(device, before[device], after[device]);
      done.count += change.returned;
      if (before[device] > 0) done.devices.push_back(change);
    }
    done.detail = emptied ? base::bytes_text(done.count) + " of device memory given back"
                          : emptied.error().message;
    return done;
  }

 private:
  /// By device; 0 for those that are not in use.
  static std::vector<std::uint64_t> reserved() {
    std::vector<std::uint64_t> bytes(TorchDevices::kMost);
    for (int device = 0; device < TorchDevices::kMost; ++device) {
      if (const cache::Allocator* allocator = torch_devices().ready(device))
        bytes[static_cast<std::size_t>(device)] = allocator->reserved();
    }
    return bytes;
  }
};

/// What cards_here() is told of the devices in use.
class TorchMemory final : public base::Reclaimer {
 public:
  base::Reclaimed reclaim() override {
    base::Reclaimed nothing;
    const auto driver = torch_devices().driver();
    if (!driver) return nothing;
    torch_devices().for_each([&](const cache::Allocator& allocator) {
      const cache::Stats stats = allocator.stats();
      const auto reserved =
          static_cast<std::uint64_t>(stats.current(cache::Metric::reserved_bytes));
      // Asking for the memory of a device that is not in use would begin to use it.
      if (reserved == 0) return;
      const auto memory = (*driver)->memory(allocator.device());
      if (!memory) return;
      const auto active = static_cast<std::uint64_t>(stats.current(cache::Metric::active_bytes));
      tell_card({static_cast<std::uint32_t>(allocator.device()),
                 {memory->total, memory->free, reserved, reserved - std::min(reserved, active)}});
    });
    return nothing;
  }
};

/// With the library, for the reason that the runtime is made then.
[[gnu::constructor]] void make_torch_devices() {
  try {
    static_cast<void>(torch_devices());
  } catch (const std::bad_alloc&) {
    // Likewise, the first use tries again.
  }
}

}  // namespace

base::Status TorchDevices::open() {
  if (driver_ != nullptr) return {};
  const auto profile = torch_profile(environment);
  if (!profile) return profile.error();
  const auto settings = torch_settings(*profile, environment);
  if (!settings) return settings.error();
  auto driver = torch_driver(environment);
  if (!driver) return driver.error();
  options_.profile = *profile;
  options_.settings = *settings;
  options_.counters = &counters_;
  driver_ = std::move(*driver);
  runtime().reclaimers.add("ebb torch cache", base::Stage::device_cache,
                           std::make_shared<TorchCache>());
  runtime().reclaimers.add("ebb torch memory", base::Stage::device_reading,
                           std::make_shared<TorchMemory>());
  return {};
}

base::Result<device::Driver*> TorchDevices::driver() {
  if (forked()) return after_fork();
  const base::Lock lock(mutex_);
  if (const base::Status opened = open(); !opened) return opened.error();
  return driver_.get();
}

base::Result<cache::Allocator*> TorchDevices::at(int device) {
  if (cache::Allocator* made = ready(device)) return made;
  if (forked()) return after_fork();
  const base::Lock lock(mutex_);
  if (cache::Allocator* made = ready(device)) return made;
  if (const base::Status opened = open(); !opened) return opened.error();
  const int count = std::min(driver_->device_count(), kMost);
  if (device < 0 || device >= count) {
    return base::error(Code::bad_input, "device %d: expected 0 to %d, the devices of this process",
                       device, count - 1);
  }
  auto made = cache::Allocator::create(*driver_, device, options_);
  if (!made) return made.error();
  if (history_) (*made)->record_history(*history_);
  cache::Allocator* allocator = made->release();  // for the life of the process
  allocators_[static_cast<std::size_t>(device)].store(allocator, std::memory_order_release);
  return allocator;
}

base::Status TorchDevices::empty_caches() const {
  base::Status first;
  for_each([&](cache::Allocator& device) {
    const base::Status emptied = device.empty_cache();
    if (first && !emptied) first = emptied;
  });
  return first;
}

void TorchDevices::record_history(const cache::HistoryOptions& options) {
  if (forked()) return;
  const base::Lock lock(mutex_);
  history_ = options;
  for_each([&](cache::Allocator& device) { device.record_history(options); });
}

base::Result<cache::Snapshot> TorchDevices::snapshot() {
  if (forked()) return after_fork();
  const base::Lock lock(mutex_);
  if (const base::Status opened = open(); !opened) return opened.error();
  cache::Snapshot snapshot;
  snapshot.profile = options_.profile;
  snapshot.settings = options_.settings;
  for_each([&](cache::Allocator& device) {
    snapshot.device_traces.resize(static_cast<std::size_t>(device.device()));
    device.add_to(snapshot);
  });
  return snapshot;
}

void TorchDevices::forget() {
  forked_.store(true, std::memory_order_relaxed);
  for (auto& allocator : allocators_) {
    allocator.store(nullptr, std::memory_order_relaxed);
  }
}

void TorchDevices::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* devices = static_cast<TorchDevices*>(self);
  if (devices->driver_ != nullptr) devices->forget();
}

TorchDevices& torch_devices() {
  static constinit std::atomic<TorchDevices*> place{nullptr};
  return base::made_once(place, [] {
    base::when_fork_lost([] {
      torch_devices().forget();
      leave_agent();
    });
    return new TorchDevices();
  });
}

}  // namespace ebb::capi
