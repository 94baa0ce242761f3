// SPDX-License-Identifier: Apache-2.0
#include "capi/cards.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/fork.h"
#include "capi/runtime.h"

namespace ebb::capi {
namespace {

/// Where the reading that is under way on this thread puts what it is told.
thread_local std::vector<fact::CardSample>* listening = nullptr;

base::Result<std::vector<sense::GpuReading>> gpus_of_machine() {
  using Meter = base::Result<sense::GpuMeter>;
  static std::atomic<Meter*> place;
  const auto make = [] { return new Meter(sense::GpuMeter::open()); };
  const Meter& meter = base::made_once(place, make);
  if (!meter) return meter.error();
  return meter->read();
}

}  // namespace

bool tell_card(const fact::CardSample& card) {
  if (listening == nullptr) return false;
  const auto place =
      std::find_if(listening->begin(), listening->end(),
                   [&](const fact::CardSample& known) { return known.index >= card.index; });
  if (place == listening->end() || place->index != card.index) {
    listening->insert(place, card);
    return true;
  }
  place->memory.free = std::min(place->memory.free, card.memory.free);
  place->memory.reserved += card.memory.reserved;
  place->memory.cached += card.memory.cached;
  return true;
}

keep::CardsSeen cards_here() {
  keep::CardsSeen seen;
  auto* const outer = std::exchange(listening, &seen.cards);
  if (!base::fork_lost())
    runtime().reclaimers.run_only(base::Stage::device_reading, [](const auto&...) {});
  listening = outer;
  if (seen.cards.empty()) return keep::machine_cards(gpus_of_machine());
  seen.tells_caches = true;
  return seen;
}

}  // namespace ebb::capi
