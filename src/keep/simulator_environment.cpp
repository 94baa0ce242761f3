// SPDX-License-Identifier: Apache-2.0
#include "keep/simulator_environment.h"

#include <cstdlib>

namespace ebb::keep {

std::vector<EnvironmentVariable> simulator_environment() {
  std::vector<EnvironmentVariable> lacking;
  // Whatever the user has set: results must not depend on it.
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || std::string_view(value) != "1")
      lacking.push_back({name, "1", "one thread trains one client"});
  }
  for (EnvironmentVariable& variable : job_environment(Role::simulator, std::nullopt)) {
    if (variable.place != Placement::if_unset || std::getenv(variable.name.c_str()) != nullptr)
      continue;
    lacking.push_back(std::move(variable));
  }
  return lacking;
}

}  // namespace ebb::keep
