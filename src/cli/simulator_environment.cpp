// SPDX-License-Identifier: Apache-2.0
#include "keep/simulator_environment.h"

#include <stdlib.h>

#include "cli/simulator.h"

namespace ebb::cli {

bool set_simulator_environment() {
  const std::vector<keep::EnvironmentVariable> lacking = keep::simulator_environment();
  for (const keep::EnvironmentVariable& variable : lacking)
    ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
  return !lacking.empty();
}

}  // namespace ebb::cli
