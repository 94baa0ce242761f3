// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/simulate_view.h"

namespace ebb::cli {

/// Code::unavailable where this build writes none.
base::Status can_write_pages();

/// Simulations as a page at `order.html`: accuracy, loss and memory by round with their bands, how
/// often clients took part, the memory plan and the figures. Requires: a method with a repeat.
base::Status write_page(const SimulateOrder& order, const SimulateOutcome& outcome);

}  // namespace ebb::cli
