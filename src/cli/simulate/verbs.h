// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/program.h"
#include "cli/simulate/order.h"

namespace ebb::cli {

/// Simulates every method with every seed and gives the exit status.
using Simulating = std::function<int(const SimulateOrder& order)>;

/// `ebb simulate` and `ebb compare`: what they are told is checked here, in whichever program.
void add_simulating(Verb program, const Simulating& simulate);

/// Methods, models and data sets.
int list_simulations(bool json);

}  // namespace ebb::cli
