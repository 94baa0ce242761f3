// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include "run/run_fixture.h"
#include "sense/process.h"

namespace ebb::run {

/// Kills a supervisor and its job at one stroke, and waits until nobody is there any more.
inline void kill_together(support::Subprocess& supervisor, pid_t job) {
  ::kill(supervisor.pid(), SIGSTOP);  // which sees nothing of what follows
  ::kill(job, SIGKILL);
  ::kill(supervisor.pid(), SIGKILL);
  static_cast<void>(support::finished(supervisor));
  wait_until([&] {
    const auto reading = sense::read_process(job);
    return !reading || reading->virtual_size == 0;
  });
}

}  // namespace ebb::run
