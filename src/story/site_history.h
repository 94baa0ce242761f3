// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fact/site.h"
#include "record/store.h"

namespace ebb::story {

/// What one stack of calls of one process held, at each of the moments of its SiteHistory.
struct HeldOverTime {
  record::ProcessKey process;
  fact::SiteStack frames;            ///< innermost first; empty where it could not be read
  std::vector<std::uint64_t> bytes;  ///< 0 before it came and once its process has ended
};

/// What sites held over time, for a page: few moments, and the stacks that held most at one of
/// them.
struct SiteHistory {
  std::vector<double> moments;  ///< seconds of the run, ascending; fewer than two say nothing
  std::vector<HeldOverTime> stacks;
};

SiteHistory site_history_of(const record::RecordedRun& run);

}  // namespace ebb::story
