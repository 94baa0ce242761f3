// SPDX-License-Identifier: Apache-2.0
#include "story/process_ledger.h"

#include <algorithm>

#include "keep/ledger.h"

namespace ebb::story {

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
  if (readings.empty()) return {};
  const record::Reading& reading = counted != readings.rend() ? *counted : readings.back();
  const auto mean =
      [](const std::optional<record::Extent>& extent) -> std::optional<std::uint64_t> {
    if (!extent) return std::nullopt;
    return extent->mean;
  };
  fact::ProcessSample memory;
  memory.rss = mean(reading.rss);
  memory.anon = mean(reading.anon);
  memory.file = mean(reading.file);
  memory.shmem = mean(reading.shmem);
  memory.swap = mean(reading.swap);
  memory.live = mean(reading.live);
  memory.retained = mean(reading.retained);
  fact::Ledger ledger = keep::ledger_of(memory, private_allocators, std::nullopt);
  // Nobody looks for them in a process without an agent, nor where malloc accounts for the memory.
  if (private_allocators.empty()) ledger.private_allocators.reset();
  return ledger;
}

}  // namespace ebb::story
