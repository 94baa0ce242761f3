// SPDX-License-Identifier: Apache-2.0
// What PyTorch cannot tell about a pluggable allocator: statistics, summary, snapshot, history.
#include "base/json.h"
#include "cache/snapshot_pickle.h"
#include "capi/runtime.h"
#include "capi/torch_devices.h"

using namespace ebb;
using capi::fail;
using capi::guarded;
using capi::torch_devices;

namespace {

/// Runs `body(allocator)`, which returns an ebb_code, on a device.
template <class Body>
int on_device(int device, Body&& body) {
  return guarded([&] {
    const auto allocator = torch_devices().at(device);
    return allocator ? body(**allocator) : fail(allocator.error());
  });
}

}  // namespace

int ebb_torch_stats(int device, char** json) {
  return on_device(device, [&](const cache::Allocator& allocator) {
    base::Json::Object members;
    for (const auto& [key, value] : allocator.memory_stats())
      members.emplace_back(key, value);
    return capi::store_text(base::Json(std::move(members)).text(), json);
  });
}

int ebb_torch_summary(int device, char** text) {
  return on_device(device, [&](const cache::Allocator& allocator) {
    return capi::store_text(allocator.memory_summary(), text);
  });
}

int ebb_torch_reset_peak_stats(int device) {
  return on_device(device, [](cache::Allocator& allocator) {
    allocator.reset_peaks();
    return static_cast<int>(EBB_OK);
  });
}

int ebb_torch_record_history(int enabled, uint64_t max_entries) {
  return guarded([&] {
    cache::HistoryOptions options;
    options.enabled = enabled != 0;
    if (max_entries != 0) options.max_entries = max_entries;
    torch_devices().record_history(options);
    return static_cast<int>(EBB_OK);
  });
}

int ebb_torch_snapshot(const char* path) {
  return guarded([&] {
    if (path == nullptr) return fail(base::error(base::Code::bad_input, "path must not be null"));
    const auto snapshot = torch_devices().snapshot();
    if (!snapshot) return fail(snapshot.error());
    const base::Status written = cache::dump_snapshot(*snapshot, path);
    return written ? static_cast<int>(EBB_OK) : fail(written.error());
  });
}

int ebb_torch_empty_cache(void) {
  return guarded([] {
    const base::Status emptied = torch_devices().empty_caches();
    return emptied ? static_cast<int>(EBB_OK) : fail(emptied.error());
  });
}
