// SPDX-License-Identifier: Apache-2.0
#include "cli/simulator.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cli/verb.h"
#include "keep/job_environment.h"

namespace ebb::cli {

bool names_the_simulator(int count, char** words) {
  if (count < 2) return false;
  const std::string_view verb = words[1];
  return verb == "simulate" || verb == "compare";
}

int start_simulator(char** words) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::filesystem::path simulator = self.parent_path() / "ebb-simulate";
  set_simulator_environment();
  ::execv(simulator.c_str(), words);
  if (errno == ENOENT)
    return report(base::error(base::Code::unavailable,
                              "ebb %s needs the program %s, which is built where libtorch is found",
                              words[1], simulator.c_str()));
  return report(base::system_error(errno, "cannot start %s", simulator.c_str()));
}

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
    if (variable.prepend || std::getenv(variable.name.c_str()) != nullptr) continue;
    ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
    changed = true;
  }
  return changed;
}

}  // namespace ebb::cli
