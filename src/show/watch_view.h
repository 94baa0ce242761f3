// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "keep/process_watch.h"
#include "term/style.h"

namespace ebb::show {

/// The last sample and what came before it, as a few lines for a terminal.
std::vector<std::string> watch_lines(const keep::ProcessWatch& watch,
                                     const keep::WatchSample& sample, const term::Style& style);

/// What the samples came to: doctor's shape with the process and why watching ended beside it.
base::Json watched_json(const keep::ProcessWatch& watch, const char* ending);

/// One sample as one line for a log.
std::string watch_line(const keep::WatchSample& sample, const keep::ProcessDiagnosis& diagnosis);

}  // namespace ebb::show
