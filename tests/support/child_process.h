// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ebb::support {

/// A forked child that waits until it is killed. Killed and reaped with its owner.
class WaitingChild {
 public:
  WaitingChild() : pid_(fork()) {
    if (pid_ < 0) std::abort();
    while (pid_ == 0)
      pause();
  }
  ~WaitingChild() { reap(); }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  pid_t pid() const { return pid_; }

  /// Ends it but leaves it waiting for its parent: a zombie.
  void end() {
    kill(pid_, SIGKILL);
    siginfo_t ignored{};
    waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT);
  }

  /// Ends it for good.
  void reap() {
    if (reaped_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  pid_t pid_;
  bool reaped_ = false;
};

/// Runs `say` in a forked child and returns the text that it returned there; of a child that did
/// not get so far, how it ended.
template <class Say>
std::string said_by_child(Say&& say) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    const std::string text = say();
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  ssize_t got = 0;
  while ((got = read(ends[0], buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) text += " (the child ended with wait status " + std::to_string(status) + ")";
  return text;
}

}  // namespace ebb::support
