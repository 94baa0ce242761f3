// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "show/simulate/outcome.h"
#include "term/style.h"

namespace ebb::show {

/// Of the last round in which clients were evaluated; null where they never were.
const fl::ClientScores* last_client_scores(const fl::SimulationResult& result);

/// What the global model came to be for clients on their own samples, a row for each method in the
/// order of `ranking`, the mean over its seeds; "" where clients were never evaluated.
std::string client_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking,
                         const term::Style& style);

}  // namespace ebb::show
