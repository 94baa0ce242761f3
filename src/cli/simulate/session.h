// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/simulate/order.h"
#include "fl/ranks.h"

namespace ebb::cli {

// The program ebb-simulate: `ebb simulate` and `ebb compare`.

/// Simulates every method with every seed, tells what came of it, and gives the exit status.
int simulate_all(const SimulateOrder& order, std::unique_ptr<fl::Ranks> ranks);

/// As fl::join_ranks; complain() knows from then on that there are several processes.
base::Result<std::unique_ptr<fl::Ranks>> join_ranks();

}  // namespace ebb::cli
