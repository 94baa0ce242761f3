// SPDX-License-Identifier: Apache-2.0
#include "cli/simulator.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/program.h"
#include "cli/verb.h"

namespace ebb::cli {

bool names_the_simulator(int count, char** words) {
  if (count < 2) return false;
  const std::string_view verb = words[1];
  return verb == "simulate" || verb == "compare";
}

int start_simulator(char** words) {
  const auto folder = base::program_folder();
  if (!folder) return complain(folder.error());
  const std::string simulator = *folder + "/ebb-simulate";
  set_simulator_environment();
  ::execv(simulator.c_str(), words);
  if (errno == ENOENT)
    return complain(
        base::error(base::Code::unavailable,
                    "ebb %s needs the program %s, which is built where libtorch is found", words[1],
                    simulator.c_str()));
  return complain(base::system_error(errno, "cannot start %s", simulator.c_str()));
}

}  // namespace ebb::cli
