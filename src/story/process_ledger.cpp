// SPDX-License-Identifier: Apache-2.0
#include "story/process_ledger.h"

#include <algorithm>
#include <optional>
#include <span>

#include "keep/ledger.h"

namespace ebb::story {
namespace {

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

}  // namespace

std::vector<fact::PrivateAllocator> private_allocators_of(const record::RecordedRun& run,
                                                          const record::ProcessKey& process) {
  std::vector<fact::PrivateAllocator> found;
  for (const record::Beside& one : run.beside)
    if (one.process == process) found.push_back(one.allocator);
  return found;
}

fact::Ledger ledger_of(const record::ProcessHistory& history,
                       const std::vector<fact::PrivateAllocator>& private_allocators) {
  const std::vector<record::Reading>& readings = history.readings;
  const auto counted = std::find_if(readings.rbegin(), readings.rend(), [](const auto& reading) {
    return reading.live && reading.retained;
  });
  if (counted == readings.rend() && private_allocators.empty()) return ledger_without_heap(history);
  if (readings.empty()) return {};
  // Nobody looks for private allocators in a process without an agent, nor where malloc accounts
  // for the memory.
  std::optional<std::span<const fact::PrivateAllocator>> beside;
  if (!private_allocators.empty()) beside = private_allocators;
  return keep::ledger_of(mean_of(counted != readings.rend() ? *counted : readings.back()), beside,
                         std::nullopt);
}

fact::Ledger ledger_without_heap(const record::ProcessHistory& history) {
  if (history.readings.empty()) return {};
  fact::ProcessSample memory = mean_of(history.readings.back());
  memory.live.reset();
  memory.retained.reset();
  return keep::ledger_of(memory, std::nullopt, std::nullopt);
}

}  // namespace ebb::story
