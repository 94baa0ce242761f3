// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include "base/log.h"

namespace ebb::keep {

base::Result<GuardCheck> guard_memory(const sense::MemoryThresholds& thresholds, Cleaner& cleaner,
                                      const InfoSource& source) {
  base::Result<sense::MemoryInfo> info = source();
  if (!info) return info.error();
  const base::Result<sense::MemoryLevel> level = sense::level_of(*info, thresholds);
  if (!level) return level.error();
  GuardCheck check;
  check.level = *level;
  check.info = *std::move(info);
  switch (check.level) {
    case sense::MemoryLevel::normal:
      check.change = cleaner.allocator().set_pressure(false);
      break;
    case sense::MemoryLevel::warn:
      base::log(base::LogLevel::warning, "memory at %.1f %% of its limit",
                check.info.fullest_percent);
      break;
    case sense::MemoryLevel::critical:
      check.change = cleaner.allocator().set_pressure(true);
      check.cleanup = cleaner.clean({.cuda_empty_cache = true});
      base::log(base::LogLevel::warning, "memory at %.1f %% of its limit: %s",
                check.info.fullest_percent, summary_of(*check.cleanup).c_str());
      break;
  }
  return check;
}

}  // namespace ebb::keep
