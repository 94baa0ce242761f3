// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "record/store.h"
#include "trend/slope.h"

namespace ebb::story {

/// What was seen of a process's sites: the moments, and what all of them held then. Looks at a
/// program that takes itself apart at its end are left out.
struct SiteLooks {
  std::vector<trend::Point> totals;  ///< of one at least
  std::optional<double> ended = {};  ///< when the process did

  bool holds(double seconds) const { return seconds <= totals.back().seconds; }
};

/// Of each process that was looked at.
std::map<record::ProcessKey, SiteLooks> site_looks_of(const record::RecordedRun& run);

}  // namespace ebb::story
