// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/database.h"
#include "record/store.h"

namespace ebb::record {

// Runs as they are read out of all tables. Failures stick to the database.

/// The newest first.
std::vector<RunSummary> read_summaries(Database& database, bool only_unended = false);

/// Nothing where there is no such run.
std::optional<RunSummary> read_summary(Database& database, std::int64_t id);

/// Everything of one run; with `from`, of readings and places only those from that second on which
/// were not merged yet, and no sites. Nothing where there is no such run.
std::optional<RecordedRun> read_whole_run(Database& database, std::int64_t id,
                                          std::optional<double> from = std::nullopt);

}  // namespace ebb::record
