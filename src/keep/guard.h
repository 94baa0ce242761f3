// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"
#include "keep/cleanup.h"
#include "sense/memory_info.h"

namespace ebb::keep {

/// What a check found and did.
struct GuardCheck {
  sense::MemoryLevel level = sense::MemoryLevel::normal;
  sense::MemoryInfo info;
  std::optional<CleanupReport> cleanup;  ///< at the critical level
  std::string change;                    ///< e.g. "decay set to 0 until the pressure ends"
};

/// Watches the thresholds: at critical it cleans up at once and tells the allocator to give back
/// whatever is freed until the level is below warn again. Thread-safe. The cleaner outlives it.
class MemoryGuard {
 public:
  using InfoSource = std::function<base::Result<sense::MemoryInfo>()>;

  /// Code::bad_input for thresholds that are not in order.
  static base::Result<std::unique_ptr<MemoryGuard>> create(
      const sense::MemoryThresholds& thresholds, Cleaner& cleaner,
      InfoSource source = [] { return sense::memory_info(); });

  /// Reads and acts; fails only where memory cannot be read.
  base::Result<GuardCheck> check() EBB_EXCLUDES(mutex_);

 private:
  MemoryGuard(const sense::MemoryThresholds& thresholds, Cleaner& cleaner, InfoSource source);

  const sense::MemoryThresholds thresholds_;
  Cleaner& cleaner_;
  const InfoSource source_;
  base::Mutex mutex_;
  bool under_pressure_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::keep
