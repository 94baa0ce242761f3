// SPDX-License-Identifier: Apache-2.0
// Why there was no memory on a device, and another try after a cleanup.
#include "capi/torch_shortage.h"

#include <map>

#include "base/fork.h"
#include "cache/safe_allocate.h"
#include "capi/runtime.h"
#include "capi/torch_devices.h"
#include "replay/doctor/live_shortage.h"

using namespace ebb;
using base::Json;
using capi::fail;
using capi::guarded;
using capi::torch_devices;

namespace {

/// The last failure of each device.
struct Failures {
  base::ForkMutex mutex{5};
  std::map<int, cache::Failure> last EBB_GUARDED_BY(mutex);
};

Failures& failures() {
  static std::atomic<Failures*> place;
  return base::made_once(place, [] { return new Failures; });
}

replay::LiveShortage shortage_of(const cache::Failure& failure) {
  replay::LiveShortage shortage;
  shortage.requested = failure.rounded != 0 ? failure.rounded : failure.requested;
  shortage.total = failure.device_total;
  shortage.free = failure.device_free;
  shortage.reserved = failure.reserved;
  shortage.in_use = failure.active;
  shortage.largest_free = failure.largest_free_usable;
  if (failure.limit != cache::kUnlimited) shortage.limit = failure.limit;
  return shortage;
}

Json diagnosis_of(const cache::Failure& failure) {
  return fact::to_json(replay::diagnose(shortage_of(failure)))
      .set("device", std::int64_t{failure.device});
}

Json report_of(const cache::SafeAllocation& done) {
  Json hooks = Json::array();
  for (const cache::HookReport& hook : done.hooks)
    hooks.push(Json::object({{"name", hook.name},
                             {"ok", hook.ok},
                             {"detail", hook.detail},
                             {"seconds", hook.seconds}}));
  const bool failed = done.cause != cache::Cause::none;
  return Json::object({{"served", done.ok()},
                       {"retried", failed && done.cause != cache::Cause::refused},
                       {"text", cache::text_of(done)},
                       {"let_go_bytes", done.let_go},
                       {"returned_bytes", done.returned},
                       {"seconds", done.seconds},
                       {"hooks", std::move(hooks)},
                       {"diagnosis", failed ? diagnosis_of(done.first) : Json()}});
}

}  // namespace

namespace ebb::capi {

void remember(const cache::Failure& failure) {
  Failures& known = failures();
  const base::Lock lock(known.mutex);
  known.last[failure.device] = failure;
}

base::Result<Json> call_shortage(const Json& arguments) {
  replay::LiveShortage shortage;
  const auto number = [&](const char* key) -> base::Result<std::optional<std::uint64_t>> {
    const Json* value = arguments.find(key);
    if (value == nullptr || value->is_null()) return std::optional<std::uint64_t>();
    if (!value->as_unsigned())
      return base::error(base::Code::bad_input, "%s: expected a number of bytes", key);
    return value->as_unsigned();
  };
  for (const auto& [key, place] : {std::pair{"requested_bytes", &shortage.requested},
                                   std::pair{"device_total_bytes", &shortage.total},
                                   std::pair{"device_free_bytes", &shortage.free},
                                   std::pair{"reserved_bytes", &shortage.reserved},
                                   std::pair{"in_use_bytes", &shortage.in_use}}) {
    const auto bytes = number(key);
    if (!bytes) return bytes.error();
    if (!*bytes) return base::error(base::Code::bad_input, "%s: expected a number of bytes", key);
    *place = **bytes;
  }
  const auto largest = number("largest_free_bytes");
  if (!largest) return largest.error();
  shortage.largest_free = *largest;
  const auto limit = number("limit_bytes");
  if (!limit) return limit.error();
  shortage.limit = *limit;
  return fact::to_json(replay::diagnose(shortage));
}

}  // namespace ebb::capi

int ebb_torch_oom_diagnostic(int device, char** json) {
  return guarded([&] {
    Failures& known = failures();
    base::Lock lock(known.mutex);
    const auto found = known.last.find(device);
    if (found == known.last.end())
      return fail(base::error(base::Code::not_found,
                              "no request has failed on device %d in this process", device));
    return capi::store_text(diagnosis_of(found->second).text(), json);
  });
}

int ebb_torch_safe_allocate(size_t size, int device, void* stream, void** memory, char** report) {
  return guarded([&] {
    if (memory == nullptr)
      return fail(base::error(base::Code::bad_input, "memory must not be null"));
    *memory = nullptr;
    if (report != nullptr) *report = nullptr;
    const auto allocator = torch_devices().at(device);
    if (!allocator) return fail(allocator.error());
    cache::SafeAllocation done;
    if (size > 0)
      done = cache::safe_allocate(**allocator, capi::runtime().reclaimers, size,
                                  reinterpret_cast<device::StreamId>(stream));
    if (report != nullptr) {
      const int stored = capi::store_text(report_of(done).text(), report);
      if (stored != EBB_OK) return stored;
    }
    if (size == 0) return static_cast<int>(EBB_OK);
    if (done.ok()) {
      *memory = reinterpret_cast<void*>(done.address);  // NOLINT(performance-no-int-to-ptr)
      return static_cast<int>(EBB_OK);
    }
    capi::remember(done.last);
    base::Error error = cache::error_of(done.last, (*allocator)->profile(),
                                        (*allocator)->settings().expandable_segments);
    error.message += " Ebb: " + cache::text_of(done);
    return fail(error);
  });
}
