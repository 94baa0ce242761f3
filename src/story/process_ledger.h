// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "fact/ledger.h"
#include "fact/private_allocator.h"
#include "record/store.h"

namespace ebb::story {

/// The allocators of libraries' own that were found in a process.
std::vector<fact::PrivateAllocator> private_allocators_of(const record::RecordedRun& run,
                                                          const record::ProcessKey& process);

/// The same with what was known at one moment: before the last that is recorded of one, its sizes
/// are not known.
std::vector<fact::PrivateAllocator> private_allocators_at(const record::RecordedRun& run,
                                                          const record::ProcessKey& process,
                                                          double seconds);

/// What was last read of a process's mappings; nothing where they never were.
std::optional<record::Mapped> mapped_of(const record::RecordedRun& run,
                                        const record::ProcessKey& process);

/// Where a process's memory was at one reading. Several merged ones count as their mean, in which
/// the parts add up as they do at one moment; the lowest and the highest of each part are of
/// different moments.
/// `mapped`: what was read of its mappings; where that was at another time, a note says so.
fact::Ledger ledger_at(const record::Reading& reading,
                       const std::vector<fact::PrivateAllocator>& private_allocators,
                       const std::optional<record::Mapped>& mapped = {});

/// The readings whose ledgers tell the same parts: those at which its allocator said what it holds,
/// or all of them where it never did.
std::vector<const record::Reading*> comparable_readings(const record::ProcessHistory& history);

/// Where a process's memory was when its allocator last said what it holds; at the end where it
/// never did.
fact::Ledger ledger_of(const record::ProcessHistory& history,
                       const std::vector<fact::PrivateAllocator>& private_allocators,
                       const std::optional<record::Mapped>& mapped = {});

/// The same at the end, for a process whose agent has fallen silent: what it said is of yesterday.
fact::Ledger ledger_without_heap(const record::ProcessHistory& history,
                                 const std::optional<record::Mapped>& mapped = {});

}  // namespace ebb::story
