// SPDX-License-Identifier: Apache-2.0
// Thresholds: how full memory is, the host's and that of GPUs, and what is done about it.
#include <algorithm>
#include <cstring>

#include "capi/cards.h"
#include "capi/runtime.h"
#include "keep/guard.h"
#include "sense/memory_info.h"

namespace {

using namespace ebb;
using capi::fail;
using capi::guarded;
using capi::runtime;
using keep::CardPolicy;

base::Result<keep::GuardRequest> request_from(const ebb_bounds* bounds) {
  if (bounds == nullptr) return base::error(base::Code::bad_input, "bounds is null");
  if (bounds->struct_size < sizeof *bounds) {
    return base::error(base::Code::bad_input,
                       "ebb_bounds.struct_size is %u: set it to sizeof(ebb_bounds)",
                       bounds->struct_size);
  }
  keep::GuardRequest request;
  request.thresholds = {bounds->warn_percent, bounds->critical_percent};
  request.cards = keep::CardBounds{{bounds->gpu_warn_percent, bounds->gpu_critical_percent},
                                   bounds->headroom_bytes};
  if (bounds->round != EBB_NO_ROUND) {
    request.round = bounds->round;
    request.moment = CardPolicy::Moment::round_end;
  }
  if (bounds->failed_allocation != 0) request.moment = CardPolicy::Moment::failed_allocation;
  if (const auto valid = keep::check(*request.cards); !valid) return valid.error();
  return request;
}

base::Status store_levels(sense::MemoryLevel ram, double percent, const keep::CardsSeen& seen,
                          const keep::CardBounds& bounds, ebb_levels* into) {
  if (into == nullptr) return {};
  const std::uint32_t size = into->struct_size;
  if (size < sizeof *into) {
    return base::error(base::Code::bad_input,
                       "ebb_levels.struct_size is %u: set it to sizeof(ebb_levels)", size);
  }
  ebb_levels whole{};
  whole.level = whole.ram_level = static_cast<int>(ram);
  whole.ram_percent = percent;
  std::strncpy(whole.gpu_trouble, seen.trouble.c_str(), sizeof whole.gpu_trouble - 1);
  for (const fact::CardSample& card : seen.cards) {
    if (whole.gpu_count == EBB_MOST_GPUS) break;
    ebb_gpu_level& gpu = whole.gpus[whole.gpu_count++];
    gpu.device = card.index;
    gpu.level = static_cast<int>(keep::level_of(card.memory, bounds.percent));
    gpu.percent = card.memory.used_percent();
    gpu.total_bytes = card.memory.total;
    gpu.free_bytes = card.memory.free;
    whole.level = std::max(whole.level, gpu.level);
    if (!seen.tells_caches) continue;
    gpu.known = EBB_KNOWS_DEVICE_CACHE;
    gpu.held_bytes = card.memory.reserved;
    gpu.cached_bytes = card.memory.cached;
  }
  std::memcpy(into, &whole, sizeof whole);
  into->struct_size = size;
  return {};
}

int guard(const keep::GuardRequest& request, ebb_levels* levels, int* level,
          ebb_cleanup_report* report) {
  const base::Result<keep::GuardCheck> check = runtime().guard.check(request);
  if (!check) return fail(check.error());
  // What was asked for stays, whatever the level.
  if (runtime().at_once) heap::host_allocator().set_pressure(true);
  if (level != nullptr) *level = static_cast<int>(check->level);
  if (request.cards) {
    const base::Status stored = store_levels(check->level, check->info.fullest_percent,
                                             check->cards, *request.cards, levels);
    if (!stored) return fail(stored.error());
  }
  const base::Status stored =
      check->cleanup ? capi::store(*check->cleanup, report) : capi::store_nothing(false, report);
  return stored ? static_cast<int>(EBB_OK) : fail(stored.error());
}

}  // namespace

int ebb_default_bounds(ebb_bounds* bounds) {
  return guarded([&] {
    if (bounds == nullptr || bounds->struct_size < sizeof *bounds)
      return fail(base::error(base::Code::bad_input,
                              "bounds: set its struct_size to sizeof(ebb_bounds) first"));
    const sense::MemoryThresholds ram;
    const keep::CardBounds cards;
    bounds->failed_allocation = 0;
    bounds->warn_percent = ram.warn;
    bounds->critical_percent = ram.critical;
    bounds->gpu_warn_percent = cards.percent.warn;
    bounds->gpu_critical_percent = cards.percent.critical;
    bounds->headroom_bytes = cards.headroom;
    bounds->round = EBB_NO_ROUND;
    return static_cast<int>(EBB_OK);
  });
}

int ebb_memory_level(double warn_percent, double critical_percent, int* level) {
  return guarded([&] {
    if (level == nullptr) return fail(base::error(base::Code::bad_input, "level is null"));
    const auto check = sense::check_memory_critical({warn_percent, critical_percent});
    if (!check) return fail(check.error());
    *level = static_cast<int>(check->level);
    return static_cast<int>(EBB_OK);
  });
}

int ebb_memory_levels(const ebb_bounds* bounds, ebb_levels* levels) {
  return guarded([&] {
    if (levels == nullptr) return fail(base::error(base::Code::bad_input, "levels is null"));
    const auto request = request_from(bounds);
    if (!request) return fail(request.error());
    const auto check = sense::check_memory_critical(request->thresholds);
    if (!check) return fail(check.error());
    const base::Status stored = store_levels(check->level, check->info.fullest_percent,
                                             capi::cards_here(), *request->cards, levels);
    return stored ? static_cast<int>(EBB_OK) : fail(stored.error());
  });
}

int ebb_guard(double warn_percent, double critical_percent, int* level,
              ebb_cleanup_report* report) {
  return guarded([&] {
    if (runtime().disabled()) {
      const base::Status stored = capi::store_nothing(true, report);
      if (!stored) return fail(stored.error());
      return level == nullptr ? static_cast<int>(EBB_OK)
                              : ebb_memory_level(warn_percent, critical_percent, level);
    }
    keep::GuardRequest request;
    request.thresholds = {warn_percent, critical_percent};
    return guard(request, nullptr, level, report);
  });
}

int ebb_guard_levels(const ebb_bounds* bounds, ebb_levels* levels, ebb_cleanup_report* report) {
  return guarded([&] {
    const auto request = request_from(bounds);
    if (!request) return fail(request.error());
    if (runtime().disabled()) {
      const base::Status stored = capi::store_nothing(true, report);
      if (!stored) return fail(stored.error());
      return levels == nullptr ? static_cast<int>(EBB_OK) : ebb_memory_levels(bounds, levels);
    }
    return guard(*request, levels, nullptr, report);
  });
}
