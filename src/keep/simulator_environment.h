// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "keep/job_environment.h"

namespace ebb::keep {

/// What ebb-simulate has to find in its environment before libtorch is loaded, as far as that of
/// this process lacks it: few arenas, and one thread each for OpenBLAS and OpenMP, without which
/// sums would depend on the number of cores.
std::vector<EnvironmentVariable> simulator_environment();

}  // namespace ebb::keep
