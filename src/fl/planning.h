// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "fl/config.h"
#include "fl/memory_plan.h"
#include "fl/simulation.h"

namespace ebb::fl {

/// What `config` will take in this process, and how many clients may train at a time: as many as
/// there are cores and as fit, unless the execution says how many. Code::bad_input, with the number
/// needed, where not even one fits.
base::Result<MemoryPlan> plan_memory(const Config& config, const Execution& execution,
                                     const SimulationResources& resources);

}  // namespace ebb::fl
