// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "fl/memory_plan.h"
#include "show/simulate/outcome.h"
#include "term/style.h"

namespace ebb::show {

/// What is large, before round 0.
std::string memory_plan_text(const fl::MemoryPlan& plan, const term::Style& style);

/// The tables at the end.
std::string outcome_text(const SimulateOutcome& outcome, const term::Style& style);

/// How to go on where it was stopped; and, unless `quiet`, where files, page and record are.
std::vector<std::string> where_lines(const SimulateOutcome& outcome, bool quiet);

/// What --json prints.
base::Json outcome_json(const SimulateOutcome& outcome);

}  // namespace ebb::show
