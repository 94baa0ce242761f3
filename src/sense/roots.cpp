// SPDX-License-Identifier: Apache-2.0
#include "sense/roots.h"

namespace ebb::sense {

Roots Roots::under(const std::string& directory) {
  return {directory + "/proc", directory + "/sys", directory};
}

std::string Roots::process(pid_t pid) const {
  return proc + "/" + (pid == kSelf ? std::string("self") : std::to_string(pid));
}

std::string Roots::thread(pid_t pid, pid_t thread) const {
  return process(pid) + "/task/" + std::to_string(thread);
}

base::Error no_such_process(pid_t pid, const Roots& roots) {
  const std::string folder = roots.process(pid);
  if (pid == kSelf) {
    return base::error(base::Code::not_found, "no %s: is /proc mounted?", folder.c_str());
  }
  return base::error(base::Code::not_found, "no process with pid %d (no %s)", static_cast<int>(pid),
                     folder.c_str());
}

}  // namespace ebb::sense
