// SPDX-License-Identifier: Apache-2.0
#include "run/plain_wait.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ebb::run {
namespace {

/// A child that ends with 7 when it gets SIGUSR1.
pid_t start_waiting_child() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  const pid_t child = ::fork();
  if (child != 0) return child;
  int number = 0;
  ::sigwait(&wanted, &number);
  ::_exit(7);
}

TEST(PlainWait, PassesSignalsOnAndReapsWhatEndsBefore) {
  const Signals signals;
  const pid_t command = start_waiting_child();
  const pid_t earlier = ::fork();
  if (earlier == 0) ::_exit(0);
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(earlier), &ignored, WEXITED | WNOWAIT);
  const pid_t parent = ::getpid();
  const pid_t sender = ::fork();
  if (sender == 0) {
    ::kill(parent, SIGUSR1);
    ::_exit(0);
  }
  const Ending ending = wait_plainly(command, signals);
  EXPECT_EQ(ending.exit_code, 7);
  EXPECT_FALSE(ending.signal);
  EXPECT_LT(::waitpid(earlier, nullptr, WNOHANG), 0) << "it was reaped on the way";
  ::waitpid(sender, nullptr, 0);  // which may end after the command
}

TEST(PlainWait, TellsTheSignalThatEndedTheCommand) {
  const Signals signals;
  const pid_t command = start_waiting_child();
  ::kill(command, SIGKILL);
  EXPECT_EQ(wait_plainly(command, signals).signal, SIGKILL);
}

}  // namespace
}  // namespace ebb::run
