// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "replay/job.h"
#include "term/style.h"

namespace ebb::show {

/// Rows as a table, best read from the left: setting, peak, ratio, saved against the baseline,
/// driver calls, outcome.
std::string rows_text(const std::vector<replay::Row>& rows, const replay::Row& baseline,
                      const term::Style& style);

/// A job under several settings; the first is what the others are held against.
std::string replay_text(const replay::Job& job, const std::vector<replay::Row>& rows,
                        const term::Style& style);

/// The answer of a search, as a line for a shell and what it gains; then each job.
std::string tuning_text(const std::vector<replay::Job>& jobs, const replay::TuneResult& result,
                        const term::Style& style);

}  // namespace ebb::show
