// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/simulate/order.h"
#include "fl/ranks.h"

namespace ebb::cli {

// The program ebb-simulate: `ebb simulate` and `ebb compare`.

/// Methods, models and data sets.
int list_simulations(bool json);

/// Simulates every method with every seed, tells what came of it, and gives the exit status.
/// `words` is the command line for the record.
int simulate_all(const SimulateOrder& order, std::unique_ptr<fl::Ranks> ranks,
                 const std::vector<std::string>& words);

/// Whether this is the process of several that speaks; true before MPI is joined as well.
bool is_first_rank();

/// The ranks that mpirun started, or this process alone.
base::Result<std::unique_ptr<fl::Ranks>> join_ranks();

/// The command line as it was given, for the record.
const std::vector<std::string>& command_line();

}  // namespace ebb::cli
