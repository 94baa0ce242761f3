// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <string_view>

#include "cli/simulator.h"
#include "keep/job_environment.h"

namespace ebb::cli {

bool set_simulator_environment() {
  bool changed = false;
  // Whatever the user has set: results must not depend on it.
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::string_view(value) == "1") continue;
    ::setenv(name, "1", 1);
    changed = true;
  }
  for (const auto& variable : keep::job_environment(keep::Role::simulator, std::nullopt)) {
    if (variable.place != keep::Placement::if_unset ||
        std::getenv(variable.name.c_str()) != nullptr)
      continue;
    ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
    changed = true;
  }
  return changed;
}

}  // namespace ebb::cli
