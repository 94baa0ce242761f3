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

/// Bytes of device memory that each of the clients takes which train side by side on a card:
/// weights, gradients, activations of a batch, and the columns of its largest convolution.
base::Result<std::uint64_t> side_by_side_bytes(const plan::Network& network, std::uint32_t batch);

/// How many of `wanted` clients fit side by side into `available` bytes; one at least.
base::Result<std::uint32_t> clients_side_by_side(const plan::Network& network, std::uint32_t batch,
                                                 std::uint32_t wanted, std::uint64_t available);

}  // namespace ebb::fl
