// SPDX-License-Identifier: Apache-2.0
#include "run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ebb::run {
namespace {

/// Who sent it; 0 where nobody did.
pid_t sender_of(const siginfo_t& signal) {
  const bool has_sender =
      signal.si_code == SI_USER || signal.si_code == SI_QUEUE || signal.si_code == SI_TKILL;
  return has_sender ? signal.si_pid : 0;
}

bool is_meant_for_command(const siginfo_t& signal) {
  // SIGPIPE and SIGXFSZ look as if this process had sent them to itself.
  if (signal.si_code <= 0) return sender_of(signal) != ::getpid();
  // By the kernel. An alarm that was set before this program took the command's place is the
  // command's; and a terminal that hangs up tells the leader of its session alone.
  const bool hangs_up = signal.si_signo == SIGHUP || signal.si_signo == SIGCONT;
  return signal.si_signo == SIGALRM || (hangs_up && ::getsid(0) == ::getpid());
}

bool comes_from_terminal(const siginfo_t& signal) {
  return signal.si_code == SI_KERNEL &&
         (signal.si_signo == SIGINT || signal.si_signo == SIGQUIT || signal.si_signo == SIGHUP);
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
  sigset_t all;
  sigfillset(&all);
  const timespec at_once{};
  siginfo_t arrived{};
  // Not out of the descriptor, which is there to be polled: a read of it may fail.
  while (::sigtimedwait(&all, &arrived, &at_once) > 0) {
    Signal signal;
    signal.number = arrived.si_signo;
    signal.is_for_command = is_meant_for_command(arrived);
    signal.is_of_kernel = arrived.si_code > 0;
    signal.is_of_terminal = comes_from_terminal(arrived);
    signal.sender = sender_of(arrived);
    if (arrived.si_code <= 0) signal.user = arrived.si_uid;
    if (arrived.si_code == SI_QUEUE) signal.value = arrived.si_value;
    each(signal);
  }
}

}  // namespace ebb::run
