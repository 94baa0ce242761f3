// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "base/file.h"
#include "run/launch.h"

namespace ebb::run {

/// A signal that has arrived.
struct Signal {
  int number = 0;
  /// Whether it was meant for the command: somebody sent it to this process. Signals of the
  /// terminal the command gets itself, being in the same group, and those for what this process did
  /// or used up are its own.
  bool is_for_command = false;
  bool is_of_kernel = false;
  bool is_of_terminal = false;  ///< from the kernel, to all processes in front of the terminal
  pid_t sender = 0;             ///< 0: the kernel, or somebody in another pid namespace
  std::uint32_t user = 0;       ///< whose the sender is
  std::optional<sigval> value;  ///< that was sent with it (sigqueue)
};

/// Whether it stops a process that does not say otherwise, until SIGCONT.
bool asks_to_stop(int number);

/// Sends it on, with its value.
void pass_on(const Signal& signal, pid_t to);

/// Signals that the supervisor waits for with poll(): all that can be caught, but for the two that
/// the C library keeps for its threads. Blocked as long as the object lives, so that none
/// interrupts anything, and a reader of stderr that has gone is an error of write(). A fault of
/// this process itself is delivered by the kernel nevertheless, and ends it. One per process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_.get(); }
  /// Whether they can be waited for at all: a process may have no descriptor left.
  bool is_open() const { return descriptor_.is_open(); }

  /// What was in force before: the command starts with it.
  const SignalState& before() const { return before_; }

  /// Takes what has arrived, children that ended or stopped (SIGCHLD) included.
  void take(const std::function<void(const Signal& signal)>& each) const;

 private:
  SignalState before_;
  base::FileDescriptor descriptor_;
};

}  // namespace ebb::run
