// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include "base/log.h"

namespace ebb::keep {

base::Result<std::unique_ptr<MemoryGuard>> MemoryGuard::create(
    const sense::MemoryThresholds& thresholds, Cleaner& cleaner, InfoSource source) {
  if (const auto ordered = sense::level_of({}, thresholds); !ordered) return ordered.error();
  return std::unique_ptr<MemoryGuard>(new MemoryGuard(thresholds, cleaner, std::move(source)));
}

MemoryGuard::MemoryGuard(const sense::MemoryThresholds& thresholds, Cleaner& cleaner,
                         InfoSource source)
    : thresholds_(thresholds), cleaner_(cleaner), source_(std::move(source)) {}

base::Result<GuardCheck> MemoryGuard::check() {
  base::Result<sense::MemoryInfo> info = source_();
  if (!info) return info.error();
  GuardCheck check;
  check.level = *sense::level_of(*info, thresholds_);
  check.info = *std::move(info);
  {
    base::Lock lock(mutex_);
    const bool starts = check.level == sense::MemoryLevel::critical && !under_pressure_;
    const bool ends = check.level == sense::MemoryLevel::normal && under_pressure_;
    if (starts || ends) {
      under_pressure_ = starts;
      check.change = cleaner_.allocator().set_pressure(starts);
    }
  }
  if (check.level == sense::MemoryLevel::critical) {
    check.cleanup = cleaner_.clean({.cuda_empty_cache = true});
    base::log(base::LogLevel::warning, "memory at %.1f %% of its limit: %s",
              check.info.fullest_percent, summary_of(*check.cleanup).c_str());
  } else if (check.level == sense::MemoryLevel::warn) {
    base::log(base::LogLevel::warning, "memory at %.1f %% of its limit",
              check.info.fullest_percent);
  }
  return check;
}

}  // namespace ebb::keep
