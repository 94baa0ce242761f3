// SPDX-License-Identifier: Apache-2.0
#include "run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ebb::run {
namespace {

bool is_meant_for_command(const signalfd_siginfo& signal) {
  const auto number = static_cast<int>(signal.ssi_signo);
  const auto sender = static_cast<pid_t>(signal.ssi_pid);
  // SIGPIPE and SIGXFSZ look as if this process had sent them to itself.
  if (signal.ssi_code <= 0) return sender != ::getpid();
  // By the kernel. An alarm that was set before this program took the command's place is the
  // command's; and a terminal that hangs up tells the leader of its session alone.
  const bool hangs_up = number == SIGHUP || number == SIGCONT;
  return number == SIGALRM || (hangs_up && ::getsid(0) == ::getpid());
}

bool comes_from_terminal(const signalfd_siginfo& signal) {
  const auto number = static_cast<int>(signal.ssi_signo);
  return signal.ssi_code == SI_KERNEL &&
         (number == SIGINT || number == SIGQUIT || number == SIGHUP);
}

}  // namespace

bool asks_to_stop(int number) {
  return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

void pass_on(const Signal& signal, pid_t to) {
  if (signal.value) {
    ::sigqueue(to, signal.number, *signal.value);
  } else {
    ::kill(to, signal.number);
  }
}

Signals::Signals() {
  sigset_t signals;
  sigfillset(&signals);
  ::sigprocmask(SIG_BLOCK, &signals, &before_.mask);
  // Where it is ignored, children vanish without a word, and nobody learns how the command ended.
  before_.ignores_children = ::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  descriptor_ = base::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // Taken out before they are let through again: they were the command's, not ours.
  take([](const Signal&) {});
  ::sigprocmask(SIG_SETMASK, &before_.mask, nullptr);
}

void Signals::take(const std::function<void(const Signal& signal)>& each) const {
  signalfd_siginfo arrived{};
  while (::read(descriptor_.get(), &arrived, sizeof arrived) == sizeof arrived) {
    Signal signal;
    signal.number = static_cast<int>(arrived.ssi_signo);
    signal.is_for_command = is_meant_for_command(arrived);
    signal.is_of_kernel = arrived.ssi_code > 0;
    signal.is_of_terminal = comes_from_terminal(arrived);
    signal.sender = static_cast<pid_t>(arrived.ssi_pid);
    signal.user = arrived.ssi_uid;
    if (arrived.ssi_code == SI_QUEUE) {
      signal.value.emplace();
      signal.value->sival_ptr = reinterpret_cast<void*>(arrived.ssi_ptr);
    }
    each(signal);
  }
}

}  // namespace ebb::run
