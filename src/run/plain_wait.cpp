// SPDX-License-Identifier: Apache-2.0
#include "run/plain_wait.h"

#include <poll.h>
#include <sys/wait.h>

namespace ebb::run {
namespace {

/// Whether the command has ended, with its status.
bool reap(pid_t command, int& status) {
  int one = 0;
  pid_t ended = 0;
  bool found = false;
  while ((ended = ::waitpid(-1, &one, WNOHANG)) > 0) {
    if (ended != command) continue;
    status = one;
    found = true;
  }
  return found;
}

}  // namespace

Ending wait_plainly(pid_t command, const Signals& signals) noexcept {
  int status = 0;
  while (!reap(command, status)) {
    pollfd source{signals.descriptor(), POLLIN, 0};
    // A second is for a kernel that cannot even poll.
    ::poll(&source, 1, 1000);
    signals.take([command](const Signal& signal) {
      if (signal.is_for_command) pass_on(signal, command);
    });
  }
  return ending_of(status);
}

}  // namespace ebb::run
