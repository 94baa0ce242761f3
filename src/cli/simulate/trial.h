// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/simulate/order.h"

namespace ebb::cli {

/// One step of the simulation on as many threads as it would have, for check_address_space(): tells
/// `descriptor` what it takes of the address space. Gives the exit status.
int run_trial(const SimulateOrder& order, int descriptor);

}  // namespace ebb::cli
