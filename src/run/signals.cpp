// SPDX-License-Identifier: Apache-2.0
#include "run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ebb::run {

Signals::Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE})
    sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, &before_);
  descriptor_ = base::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // Taken out before they are let through again: they were the command's, not ours.
  take([](int) {});
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Signals::take(const std::function<void(int number)>& pass_on) const {
  signalfd_siginfo signal{};
  while (::read(descriptor_.get(), &signal, sizeof signal) == sizeof signal) {
    const auto number = static_cast<int>(signal.ssi_signo);
    const bool by_terminal = signal.ssi_code == SI_KERNEL;
    if (number != SIGCHLD && number != SIGPIPE && !by_terminal) pass_on(number);
  }
}

}  // namespace ebb::run
