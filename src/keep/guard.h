// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "keep/cleanup.h"
#include "sense/memory_info.h"

namespace ebb::keep {

/// What a check of the thresholds found and did.
struct GuardCheck {
  sense::MemoryLevel level = sense::MemoryLevel::normal;
  sense::MemoryInfo info;
  std::optional<CleanupReport> cleanup;  ///< at the critical level
  std::string change;                    ///< e.g. "decay set to 0 until the pressure ends"
};

using InfoSource = std::function<base::Result<sense::MemoryInfo>()>;

/// Reads how full memory is and acts: at critical it cleans up at once and has the allocator give
/// back whatever is freed, until a later check finds the level normal again. Thread-safe.
/// Code::bad_input for thresholds that are not in order; else it fails only where memory cannot be
/// read.
base::Result<GuardCheck> guard_memory(
    const sense::MemoryThresholds& thresholds, Cleaner& cleaner,
    const InfoSource& source = [] { return sense::memory_info(); });

}  // namespace ebb::keep
