// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ebb/ebb.h"
#include "ebb/error.hpp"

// Part of ebb.hpp, which is what to include.

namespace ebb {

/// What memory is compared with, the host's and that of GPUs; the defaults, to be changed.
inline ebb_bounds bounds() {
  ebb_bounds made{};
  made.struct_size = sizeof made;
  detail::check(ebb_default_bounds(&made));
  return made;
}

/// How full the host's memory and the GPUs are. A GPU that cannot be read is not among them. Reads,
/// does not act.
inline ebb_levels memory_levels(const ebb_bounds& bounds = ebb::bounds()) {
  ebb_levels levels{};
  levels.struct_size = sizeof levels;
  detail::check(ebb_memory_levels(&bounds, &levels));
  return levels;
}

/// What a guard found of the host's memory and of GPUs, before it did anything, and the report if
/// it cleaned up or emptied device caches.
struct GuardedLevels {
  ebb_levels levels{};
  std::optional<ebb_cleanup_report> report;
};

/// Compares the host's memory and GPUs with the bounds, and cleans up if the first is critical. At
/// the end of a round (`bounds.round`) or after a failed allocation the device cache may be
/// emptied, as ebb_guard_levels says.
inline GuardedLevels guard(const ebb_bounds& bounds) {
  GuardedLevels guarded;
  guarded.levels.struct_size = sizeof guarded.levels;
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  detail::check(ebb_guard_levels(&bounds, &guarded.levels, &report));
  if (report.disabled != 0 || report.rss_before_bytes != 0) guarded.report = report;
  return guarded;
}

}  // namespace ebb
