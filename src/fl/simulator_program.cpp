// SPDX-License-Identifier: Apache-2.0
#include "fl/simulator_program.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "base/program.h"
#include "fl/address_space.h"
#include "keep/simulator_environment.h"

namespace ebb::fl {
namespace {

base::Result<std::string> simulator_path() {
  const auto folder = base::program_folder();
  if (!folder) return folder.error();
  return *folder + "/ebb-simulate";
}

}  // namespace

bool has_simulator() {
  const auto path = simulator_path();
  return path && ::access(path->c_str(), F_OK) == 0;
}

base::Error become_simulator(char** words) {
  const auto path = simulator_path();
  if (!path) return path.error();
  const std::string& simulator = *path;
  set_simulator_environment();
  if (const auto fits = check_address_space(simulator.c_str(), words); !fits) return fits.error();
  ::execv(simulator.c_str(), words);
  if (errno == ENOENT)
    return base::error(base::Code::unavailable,
                       "ebb %s needs the program %s, which is built where libtorch is found",
                       words[1], simulator.c_str());
  return base::system_error(errno, "cannot start %s", simulator.c_str());
}

bool set_simulator_environment() {
  const std::vector<keep::EnvironmentVariable> lacking = keep::simulator_environment();
  for (const keep::EnvironmentVariable& variable : lacking)
    ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
  return !lacking.empty();
}

}  // namespace ebb::fl
