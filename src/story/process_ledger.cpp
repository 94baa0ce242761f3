// SPDX-License-Identifier: Apache-2.0
#include "story/process_ledger.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/duration.h"
#include "keep/ledger.h"

namespace ebb::story {
namespace {

// Samples are so far apart at most, where nothing is wrong.
constexpr double kSameMoment = 1.5;

fact::ProcessSample mean_of(const record::Reading& reading) {
  const auto mean = [](const std::optional<record::Extent>& extent) {
    return extent ? std::optional(extent->mean) : std::nullopt;
  };
  fact::ProcessSample memory;
  memory.rss = mean(reading.rss);
  memory.anon = mean(reading.anon);
  memory.file = mean(reading.file);
  memory.shmem = mean(reading.shmem);
  memory.swap = mean(reading.swap);
  memory.live = mean(reading.live);
  memory.retained = mean(reading.retained);
  return memory;
}

/// Mappings are read seldom: says when, and of which parts.
void tell_age(const record::Mapped& mapped, const record::Reading& reading, fact::Ledger& ledger) {
  const double age = reading.until - mapped.seconds;
  std::string parts;
  for (const auto& [name, bytes] :
       {std::pair{"python", ledger.python}, {"pinned", ledger.pinned}, {"stacks", ledger.stacks}})
    if (bytes) parts += (parts.empty() ? "" : ", ") + std::string(name);
  if (parts.empty() || std::abs(age) < kSameMoment) return;
  ledger.notes.push_back(parts + ": as of " + base::duration_text(std::abs(age)) +
                         (age > 0 ? " before" : " later"));
}

/// Its allocator said what it holds.
bool tells_heap(const record::Reading& reading) {
  return reading.live && reading.retained;
}

}  // namespace

std::vector<fact::PrivateAllocator> private_allocators_of(const record::RecordedRun& run,
                                                          const record::ProcessKey& process) {
  std::vector<fact::PrivateAllocator> found;
  for (const record::Beside& one : run.beside)
    if (one.process == process) found.push_back(one.allocator);
  return found;
}

std::vector<fact::PrivateAllocator> private_allocators_at(const record::RecordedRun& run,
                                                          const record::ProcessKey& process,
                                                          double seconds) {
  std::vector<fact::PrivateAllocator> found;
  for (const record::Beside& one : run.beside) {
    if (one.process != process) continue;
    found.push_back(one.allocator);
    // The record keeps the last that was said, and when.
    if (seconds >= one.seconds) continue;
    found.back().live.reset();
    found.back().retained.reset();
  }
  return found;
}

std::optional<record::Mapped> mapped_of(const record::RecordedRun& run,
                                        const record::ProcessKey& process) {
  for (const record::Mapped& one : run.mapped)
    if (one.process == process) return one;
  return std::nullopt;
}

fact::Ledger ledger_at(const record::Reading& reading,
                       const std::vector<fact::PrivateAllocator>& private_allocators,
                       const std::optional<record::Mapped>& mapped) {
  // Nobody looks for private allocators in a process without an agent, nor where malloc accounts
  // for the memory.
  std::optional<std::span<const fact::PrivateAllocator>> beside;
  if (!private_allocators.empty()) beside = private_allocators;
  std::optional<fact::MappedParts> parts;
  if (mapped) parts = mapped->parts;
  fact::Ledger ledger = keep::ledger_of(mean_of(reading), beside, parts);
  if (mapped) tell_age(*mapped, reading, ledger);
  return ledger;
}

std::vector<const record::Reading*> comparable_readings(const record::ProcessHistory& history) {
  const std::vector<record::Reading>& all = history.readings;
  const bool any_told = std::any_of(all.begin(), all.end(), tells_heap);
  std::vector<const record::Reading*> found;
  for (const record::Reading& reading : all)
    if (reading.rss && (tells_heap(reading) || !any_told)) found.push_back(&reading);
  return found;
}

fact::Ledger ledger_of(const record::ProcessHistory& history,
                       const std::vector<fact::PrivateAllocator>& private_allocators,
                       const std::optional<record::Mapped>& mapped) {
  const std::vector<record::Reading>& readings = history.readings;
  const auto told = std::find_if(readings.rbegin(), readings.rend(), tells_heap);
  if (told != readings.rend()) return ledger_at(*told, private_allocators, mapped);
  if (private_allocators.empty()) return ledger_without_heap(history, mapped);
  return readings.empty() ? fact::Ledger{} : ledger_at(readings.back(), private_allocators, mapped);
}

fact::Ledger ledger_without_heap(const record::ProcessHistory& history,
                                 const std::optional<record::Mapped>& mapped) {
  if (history.readings.empty()) return {};
  record::Reading last = history.readings.back();
  last.live.reset();
  last.retained.reset();
  return ledger_at(last, {}, mapped);
}

}  // namespace ebb::story
