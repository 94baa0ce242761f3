// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "story/run_story.h"
#include "term/style.h"

namespace ebb::show {

/// Recorded runs as a table, in their order.
std::string runs_text(const std::vector<record::RunSummary>& runs, const term::Style& style);

}  // namespace ebb::show
