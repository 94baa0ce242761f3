// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>

#include "page/document.h"
#include "story/run_story.h"

namespace ebb::show {

/// Where the memory of the four largest processes was over time, by their place in
/// RunStory::processes: stacked parts of a ledger that add up to rss and swap. The same part has
/// the same place in all of them. A process with fewer than two ledgers, or with one part alone,
/// has none.
std::map<std::size_t, page::Plot> ledger_plots(const record::RecordedRun& run,
                                               const story::RunStory& story);

}  // namespace ebb::show
