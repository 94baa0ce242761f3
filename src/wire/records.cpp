// SPDX-License-Identifier: Apache-2.0
#include "wire/records.h"

#include <cmath>
#include <type_traits>

namespace ebb::wire {
namespace {

static_assert(sizeof(ReadingRecord) == 56 && std::is_trivially_copyable_v<ReadingRecord>);
static_assert(sizeof(CleanupRecord) == 264 && std::is_trivially_copyable_v<CleanupRecord>);
static_assert(sizeof(CardsRecord) == 456 && std::is_trivially_copyable_v<CardsRecord>);
static_assert(static_cast<std::uint32_t>(fact::Trigger::card) + 1 == kTriggers);

constexpr std::uint64_t kHighestDevice = 1023;

std::uint32_t known_of(const fact::ProcessSample& memory) {
  return (memory.live ? kKnowsLive : 0) | (memory.retained ? kKnowsRetained : 0);
}

std::optional<std::uint64_t> rss_from(std::uint64_t bytes) {
  if (bytes == 0) return std::nullopt;
  return bytes;
}

/// False where a figure has a value and is not known, or where bits mean nothing.
bool take(std::uint32_t known, std::uint64_t live, std::uint64_t retained,
          fact::ProcessSample& into) {
  if ((known & kKnowsLive) != 0) into.live = live;
  if ((known & kKnowsRetained) != 0) into.retained = retained;
  return (known & ~(kKnowsLive | kKnowsRetained)) == 0 && (into.live || live == 0) &&
         (into.retained || retained == 0);
}

base::Error not_known() {
  return base::error(base::Code::bad_input, "record with figures that are not known");
}

/// Either of no meaning or a part of `whole`.
bool is_part(std::uint64_t bytes, std::uint64_t whole) {
  return bytes == kNotKnown || bytes <= whole;
}

std::optional<std::uint64_t> known_part(std::uint64_t bytes) {
  if (bytes == kNotKnown) return std::nullopt;
  return bytes;
}

base::Status check_cost(double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) return {};
  return base::error(base::Code::bad_input, "record with a cost that is no time");
}

}  // namespace

ReadingRecord record_of(const Reading& reading) {
  const fact::ProcessSample& memory = reading.memory;
  ReadingRecord record;
  record.known = known_of(memory) | (reading.python_arenas ? kKnowsPython : 0);
  record.python_arenas = reading.python_arenas.value_or(0);
  record.rss = memory.rss.value_or(0);
  record.live = memory.live.value_or(0);
  record.retained = memory.retained.value_or(0);
  record.language = reading.language;
  record.shares_arenas = reading.shares_arenas ? 1 : 0;
  record.uses_cuda = reading.uses_cuda ? 1 : 0;
  record.cost_seconds = reading.cost_seconds;
  return record;
}

CleanupRecord record_of(const fact::Cleanup& cleanup) {
  CleanupRecord record;
  record.trigger = cleanup.trigger;
  record.known = known_of(cleanup.after);
  record.deep = cleanup.depth == fact::Depth::deep ? 1 : 0;
  record.missed_garbage = cleanup.missed_garbage ? 1 : 0;
  record.rss_before = cleanup.before.rss.value_or(0);
  record.rss_after = cleanup.after.rss.value_or(0);
  record.live_after = cleanup.after.live.value_or(0);
  record.retained_after = cleanup.after.retained.value_or(0);
  record.returned = cleanup.returned;
  record.seconds = cleanup.seconds;
  for (const base::DeviceChange& change : cleanup.devices) {
    if (record.devices == kMostDevices) break;
    record.device.at(record.devices++) = {change.device, change.before, change.after};
  }
  return record;
}

CardsRecord record_of(const Cards& cards) {
  CardsRecord record;
  for (const auto& [index, memory] : cards.cards) {
    if (record.cards == kMostDevices) break;
    record.card.at(record.cards++) = {index,
                                      memory.total,
                                      memory.free,
                                      memory.reserved,
                                      memory.cached,
                                      memory.live.value_or(kNotKnown),
                                      memory.inactive.value_or(kNotKnown)};
  }
  return record;
}

base::Status check(fact::Trigger trigger) {
  const auto number = static_cast<std::uint32_t>(trigger);
  if (number < kTriggers) return {};
  return base::error(base::Code::bad_input, "record with the unknown reason %u", number);
}

base::Result<Reading> fact_of(const ReadingRecord& record) {
  if (const auto fine = check_cost(record.cost_seconds); !fine) return fine.error();
  Reading reading;
  reading.memory.rss = rss_from(record.rss);
  reading.cost_seconds = record.cost_seconds;
  const std::uint32_t known = record.known & ~kKnowsPython;
  if (!take(known, record.live, record.retained, reading.memory)) return not_known();
  if (known != record.known) reading.python_arenas = record.python_arenas;
  if (!reading.python_arenas && record.python_arenas != 0) return not_known();
  if (static_cast<std::uint16_t>(record.language) >= kLanguages)
    return base::error(base::Code::bad_input, "record with an unknown language");
  if (record.shares_arenas > 1 || record.uses_cuda > 1)
    return base::error(base::Code::bad_input, "record with an unknown setting");
  reading.language = record.language;
  reading.shares_arenas = record.shares_arenas != 0;
  reading.uses_cuda = record.uses_cuda != 0;
  return reading;
}

base::Result<fact::Cleanup> fact_of(const CleanupRecord& record) {
  if (const auto fine = check(record.trigger); !fine) return fine.error();
  if (const auto fine = check_cost(record.seconds); !fine) return fine.error();
  fact::Cleanup cleanup;
  cleanup.trigger = record.trigger;
  cleanup.depth = record.deep != 0 ? fact::Depth::deep : fact::Depth::light;
  cleanup.missed_garbage = record.missed_garbage != 0;
  cleanup.before.rss = rss_from(record.rss_before);
  cleanup.after.rss = rss_from(record.rss_after);
  cleanup.returned = record.returned;
  cleanup.seconds = record.seconds;
  if (!take(record.known, record.live_after, record.retained_after, cleanup.after) ||
      record.deep > 1 || record.missed_garbage > 1)
    return not_known();
  if (record.devices > kMostDevices)
    return base::error(base::Code::bad_input, "record with more devices than it has room for");
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    const DeviceRecord& device = record.device.at(i);
    const bool is_used = i < record.devices;
    const bool is_next = cleanup.devices.empty() || device.device > cleanup.devices.back().device;
    const bool is_empty = device.device == 0 && device.before == 0 && device.after == 0;
    if (is_used ? !is_next || device.device > kHighestDevice : !is_empty)
      return base::error(base::Code::bad_input, "record with a device that cannot be");
    if (is_used)
      cleanup.devices.push_back(base::DeviceChange::between(
          static_cast<std::uint32_t>(device.device), device.before, device.after));
  }
  return cleanup;
}

base::Result<Cards> fact_of(const CardsRecord& record) {
  if (record.cards > kMostDevices)
    return base::error(base::Code::bad_input, "record with more cards than it has room for");
  Cards cards;
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    const CardRecord& card = record.card.at(i);
    const bool is_used = i < record.cards;
    const bool is_next = cards.cards.empty() || card.index > cards.cards.back().index;
    const bool is_sound =
        card.total > 0 && card.free <= card.total && card.cached <= card.reserved &&
        is_part(card.live, card.reserved - card.cached) && is_part(card.inactive, card.cached);
    const bool is_empty = card.index == 0 && card.total == 0 && card.free == 0 &&
                          card.reserved == 0 && card.cached == 0 && card.live == 0 &&
                          card.inactive == 0;
    if (is_used ? !is_next || !is_sound || card.index > kHighestDevice : !is_empty)
      return base::error(base::Code::bad_input, "record with a card that cannot be");
    if (is_used)
      cards.cards.push_back({static_cast<std::uint32_t>(card.index),
                             {card.total, card.free, card.reserved, card.cached,
                              known_part(card.live), known_part(card.inactive)}});
  }
  return cards;
}

}  // namespace ebb::wire
