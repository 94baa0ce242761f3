// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fact/ledger.h"
#include "fact/private_allocator.h"
#include "record/store.h"

namespace ebb::story {

/// The allocators of libraries' own that were found in a process.
std::vector<fact::PrivateAllocator> private_allocators_of(const record::RecordedRun& run,
                                                          const record::ProcessKey& process);

/// Where a process's memory was when its allocator last said what it holds; at the end where it
/// never did. Stacks, pinned memory and Python's arenas are not recorded.
fact::Ledger ledger_of(const record::ProcessHistory& history,
                       const std::vector<fact::PrivateAllocator>& private_allocators);

/// The same at the end, for a process whose agent has fallen silent: what it said is of yesterday.
fact::Ledger ledger_without_heap(const record::ProcessHistory& history);

}  // namespace ebb::story
