// SPDX-License-Identifier: Apache-2.0
#include "run/plain_wait.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "support/child_process.h"

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
  const Ending ending = wait_plainly({command, {}, false, {}}, signals);
  EXPECT_EQ(ending.exit_code, 7);
  EXPECT_FALSE(ending.signal);
  EXPECT_LT(::waitpid(earlier, nullptr, WNOHANG), 0) << "it was reaped on the way";
  ::waitpid(sender, nullptr, 0);  // which may end after the command
}

TEST(PlainWait, TellsTheSignalThatEndedTheCommand) {
  const Signals signals;
  const pid_t command = start_waiting_child();
  ::kill(command, SIGKILL);
  EXPECT_EQ(wait_plainly({command, {}, false, {}}, signals).signal, SIGKILL);
}

/// A child that TERM does not end, with one of its own.
pid_t start_stubborn_family() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::signal(SIGTERM, SIG_IGN);
  ::fork();
  while (true)
    ::pause();
}

TEST(PlainWait, KillsAllWhereAStopWasUnderWay) {
  EXPECT_TRUE(support::holds_in_child([] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const Signals signals;
    const pid_t command = start_stubborn_family();
    const Ending ending = wait_plainly({command, {}, false, 0.1}, signals);
    return ending.signal == SIGKILL && ::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD;
  }));
}

TEST(PlainWait, WaitsForAllWhereAskedAndKeepsTheCommandsEnding) {
  EXPECT_TRUE(support::holds_in_child([] {
    const Signals signals;
    Ending known;
    known.exit_code = 4;
    const pid_t left = start_waiting_child();
    const pid_t parent = ::getpid();
    if (::fork() == 0) {
      ::kill(parent, SIGUSR1);  // goes to what is left
      ::_exit(0);
    }
    // A number that is nobody's: the command has ended and was reaped.
    const Ending ending = wait_plainly({1 << 30, known, true, {}}, signals);
    return ending.exit_code == 4 && ::kill(left, 0) != 0;
  }));
}

}  // namespace
}  // namespace ebb::run
