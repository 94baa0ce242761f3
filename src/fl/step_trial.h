// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fl/address_space.h"
#include "fl/simulation.h"

namespace ebb::fl {

/// What a simulation maps, in bytes: one step is done on as many threads as
/// it would have, and what it maps beyond a step is added. For check_address_space(), in a process
/// of its own. Code::out_of_memory where the step itself does not get what it asks for.
base::Result<Mappings> mappings_of_a_step(const Config& config, const Execution& execution,
                                          const SimulationResources& resources);

}  // namespace ebb::fl
