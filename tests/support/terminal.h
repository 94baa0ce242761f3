// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/left_processes.h"

namespace ebb::support {

/// A command on a pseudo-terminal of its own, which it leads the session of. Without echo: all that
/// can be read was printed. The terminal hangs up with the object.
class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& command) {
    int slave = -1;
    if (openpty(&master_, &slave, nullptr, nullptr, nullptr) != 0) std::abort();
    // Before anything can be typed.
    termios settings{};
    tcgetattr(slave, &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(slave, TCSANOW, &settings);
    end_what_is_left();
    pid_ = fork();
    if (pid_ < 0) std::abort();
    if (pid_ > 0) {
      close(slave);
      return;
    }
    mark_as_ours();
    close(master_);
    if (login_tty(slave) != 0) _exit(126);
    for (int number = 1; number < NSIG; ++number)
      signal(number, SIG_DFL);
    std::vector<char*> arguments;
    for (const std::string& word : command)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  ~Terminal() {
    hang_up();
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  pid_t pid() const { return pid_; }

  /// As if typed.
  void type(const std::string& text) const {
    if (write(master_, text.data(), text.size()) < 0) std::abort();
  }

  void resize(unsigned short columns) const {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    ioctl(master_, TIOCSWINSZ, &size);
  }

  /// Reads until `text` was printed, and drops what came up to there; false where it is not within
  /// two minutes.
  bool shows(const std::string& text) {
    for (;;) {
      const std::size_t found = unread_.find(text);
      if (found != std::string::npos) {
        unread_.erase(0, found + text.size());
        return true;
      }
      pollfd source{master_, POLLIN, 0};
      char buffer[4096];
      if (poll(&source, 1, 120'000) != 1) return false;
      const ssize_t got = read(master_, buffer, sizeof buffer);
      if (got <= 0) return false;
      unread_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  /// What was read and not asked for yet.
  const std::string& unread() const { return unread_; }

  void hang_up() {
    if (master_ >= 0) close(master_);
    master_ = -1;
  }

 private:
  int master_ = -1;
  pid_t pid_ = -1;
  std::string unread_;
};

}  // namespace ebb::support
