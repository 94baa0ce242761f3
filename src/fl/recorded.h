// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fl/simulation.h"

namespace ebb::fl {

// Simulations as a record or a folder keeps them: what they began with, and a line of JSON for each
// round that has ended. None of it is trusted.

/// `config`, and `untrained`: what the model could do before the first round.
base::Json beginning_json(const SimulationResult& so_far);

/// The simulation as far as it is known: `stopped` where rounds are still to come, without a memory
/// plan. Code::bad_input names the first line that is no round, or not later than the one before.
base::Result<SimulationResult> simulation_from(const base::Json& beginning,
                                               const std::vector<std::string>& rounds);

/// A simulation in a folder.
struct KeptSimulation {
  std::string folder;
  base::Json beginning;
  std::vector<std::string> rounds;
  double began = 0;  ///< unix seconds, as the files tell
  double ended = 0;
};

/// The simulations in `folder`: the one whose folder it is, or those of a comparison, in their
/// order, without the ones that had not begun. Code::bad_input where it is neither, or where a file
/// is not as a simulation writes it; what a kill has cut off a last line is left out.
base::Result<std::vector<KeptSimulation>> simulations_in(const std::string& folder);

}  // namespace ebb::fl
