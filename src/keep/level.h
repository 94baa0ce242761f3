// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "keep/diagnosis.h"
#include "keep/memory_trends.h"

namespace ebb::keep {

std::string bytes_of(double bytes);  ///< "+1.5 MiB"

/// "+1.5 MiB/h (95 %: +1.4 MiB to +1.6 MiB)"
std::string rate_text(const trend::Slope& slope);

/// That memory does not grow, and what growth would not have shown; nothing where that cannot be
/// said.
std::optional<std::string> why_level(const MemorySeries& series, const MemoryTrends& trends);

/// Then: what is missing for a verdict.
std::string why_undecided(const MemoryTrends& trends);

}  // namespace ebb::keep
