// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::run {

/// How a command came to its end.
struct Ending {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

/// As a wait status says it.
Ending ending_of(int wait_status);

/// A command that was started, or why it could not be: as shells do, 127 where there is no such
/// command and 126 where it cannot be run.
struct Launched {
  pid_t pid = 0;
  std::string trouble;  ///< empty where it runs
  int exit_code = 0;    ///< where it does not
};

/// What a command inherits of its parent's signals and does not find as it would without us.
struct SignalState {
  sigset_t mask{};
  bool ignores_children = false;  ///< SIGCHLD is ignored
};

/// Starts `command` in the caller's group, with its terminal and descriptors, the signals `state`
/// and the environment given; `silent` puts /dev/null in place of its input and output. Fails only
/// where no process can be made.
base::Result<Launched> launch(const std::vector<std::string>& command,
                              const std::vector<std::string>& environment, const SignalState& state,
                              bool silent = false);

/// Ends this process as the command ended: the same status, the same signal. No other signal gets
/// in between.
[[noreturn]] void end_as(const Ending& ending);

}  // namespace ebb::run
