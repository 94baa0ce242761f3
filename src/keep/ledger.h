// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "fact/ledger.h"
#include "fact/mapped_parts.h"
#include "fact/private_allocator.h"
#include "fact/process_sample.h"
#include "sense/mapping_sums.h"

namespace ebb::keep {

fact::MappedParts parts_of(const sense::MappingSums& sums);

/// Where the memory of a process is, from what was read of it. `private_allocators`: those of
/// libraries' own; nothing where nobody looked for any. `mappings`: nothing where they were not
/// read. The kernel's counters are what it adds up to: a part that claims more than is left of them
/// gets what is left.
fact::Ledger ledger_of(
    const fact::ProcessSample& memory,
    const std::optional<std::span<const fact::PrivateAllocator>>& private_allocators,
    const std::optional<fact::MappedParts>& mappings);

}  // namespace ebb::keep
