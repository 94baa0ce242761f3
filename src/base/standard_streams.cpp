// SPDX-License-Identifier: Apache-2.0
#include "base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace ebb::base {

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free: this one.
    const int use = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", use | O_CLOEXEC) < 0) return;
  }
}

void outlive_limits_of_files() {
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace ebb::base
