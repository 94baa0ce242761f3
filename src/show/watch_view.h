// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "keep/process_watch.h"
#include "run/live_sites.h"
#include "term/style.h"

namespace ebb::show {

/// What stacks of the watched process hold; nothing where its allocations are not sampled.
using WatchedSites = std::optional<std::vector<run::LiveSite>>;

/// The last sample and what came before it, as a few lines for a terminal.
std::vector<std::string> watch_lines(const keep::ProcessWatch& watch,
                                     const keep::WatchSample& sample, const WatchedSites& sites,
                                     const term::Style& style);

/// One sample with the places in the code that hold most; docs/watch.md has the keys.
base::Json watch_json(const keep::WatchSample& sample, const WatchedSites& sites);

/// What the samples came to: doctor's shape with the process and why watching ended beside it.
base::Json watched_json(const keep::ProcessWatch& watch, const char* ending);

/// One sample as one line for a log.
std::string watch_line(const keep::WatchSample& sample, const WatchedSites& sites,
                       const keep::ProcessDiagnosis& diagnosis);

}  // namespace ebb::show
