// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/document.h"
#include "show/simulate/outcome.h"

namespace ebb::show {

/// Simulations as a page: accuracy, loss and memory by round with their bands, how often clients
/// took part, the memory plan and the figures. Requires: a method with a repeat.
page::Document page_of_simulations(const SimulateOutcome& outcome);

}  // namespace ebb::show
