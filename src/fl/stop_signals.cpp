// SPDX-License-Identifier: Apache-2.0
#include "fl/stop_signals.h"

#include <unistd.h>

#include <csignal>

namespace ebb::fl {
namespace {

volatile std::sig_atomic_t stop_was_asked = 0;
volatile std::sig_atomic_t signal_was_taken = 0;
bool stopping_is_said = true;  // set before there is a handler

extern "C" void take_stop_signal(int number) {
  if (signal_was_taken != 0) {
    // Whatever the simulation is in, also a loop that it never leaves. Delivered on the way out.
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  signal_was_taken = 1;
  stop_was_asked = 1;
  if (!stopping_is_said) return;
  constexpr char kLine[] = "\nebb: stops after this round; once more stops at once\n";
  // Nobody may be reading: nothing to do about it here.
  if (::write(STDERR_FILENO, kLine, sizeof kLine - 1) < 0) return;
}

}  // namespace

void stop_on_signals(bool speaks) {
  stopping_is_said = speaks;
  struct sigaction action {};
  action.sa_handler = take_stop_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void ask_to_stop() {
  stop_was_asked = 1;
}

bool is_asked_to_stop() {
  return stop_was_asked != 0;
}

}  // namespace ebb::fl
