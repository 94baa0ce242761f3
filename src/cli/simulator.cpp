// SPDX-License-Identifier: Apache-2.0
#include "cli/simulator.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/program.h"
#include "cli/address_space.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

base::Result<std::string> simulator_path() {
  const auto folder = base::program_folder();
  if (!folder) return folder.error();
  return *folder + "/ebb-simulate";
}

}  // namespace

bool names_the_simulator(int count, char** words) {
  if (count < 2) return false;
  const std::string_view verb = words[1];
  return verb == "simulate" || verb == "compare";
}

bool has_simulator() {
  const auto path = simulator_path();
  return path && ::access(path->c_str(), F_OK) == 0;
}

int start_simulator(char** words) {
  const auto path = simulator_path();
  if (!path) return complain(path.error());
  const std::string& simulator = *path;
  set_simulator_environment();
  if (const auto fits = check_address_space(simulator.c_str(), words); !fits)
    return complain(fits.error());
  ::execv(simulator.c_str(), words);
  if (errno == ENOENT)
    return complain(
        base::error(base::Code::unavailable,
                    "ebb %s needs the program %s, which is built where libtorch is found", words[1],
                    simulator.c_str()));
  return complain(base::system_error(errno, "cannot start %s", simulator.c_str()));
}

}  // namespace ebb::cli
