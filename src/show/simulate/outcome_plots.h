// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/document.h"
#include "show/simulate/outcome.h"

namespace ebb::show {

/// Accuracy by round and by simulated time, loss, memory, with their bands over the seeds;
/// what the model is to clients, where they were evaluated; how evenly they took part; where the
/// time of a round went.
void add_plots(const SimulateOutcome& outcome, page::Document& page);

/// What is large, before round 0.
page::BarChart memory_plan_chart(const fl::MemoryPlan& plan);

}  // namespace ebb::show
