// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/left_processes.h"

namespace ebb::support {

/// A real child process with pipes. Killed and reaped with the object; with the test program at the
/// latest, together with all that it has started.
class Subprocess {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit Subprocess(const std::vector<std::string>& command, const Environment& extra = {}) {
    int in[2];
    int out[2];
    int err[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
      std::abort();
    end_what_is_left();
    pid_ = fork();
    if (pid_ == 0) {
      mark_as_ours();
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
      // A shell that started the tests in the background had them ignored.
      for (const int number : {SIGINT, SIGQUIT, SIGHUP})
        signal(number, SIG_DFL);
      for (const auto& [name, value] : extra) {
        if (value.empty()) {
          unsetenv(name.c_str());
        } else {
          setenv(name.c_str(), value.c_str(), 1);
        }
      }
      std::vector<char*> arguments;
      for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    input_ = in[1];
    output_ = out[0];
    error_ = err[0];
  }
  ~Subprocess() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      static_cast<void>(wait());
    }
    close_input();
    close_output();
    close(error_);
  }
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  int input() const { return input_; }

  /// One line of its standard output, without the newline.
  std::string read_line() const {
    std::string line;
    char c = 0;
    while (read(output_, &c, 1) == 1 && c != '\n')
      line += c;
    return line;
  }

  std::string read_rest_of_output() const { return drain(output_); }
  std::string read_rest_of_error() const { return drain(error_); }

  /// From now on nobody reads what it prints.
  void close_output() {
    if (output_ >= 0) close(output_);
    output_ = -1;
  }

  void close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
  }

  /// Its exit status, or minus the signal that killed it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static std::string drain(int descriptor) {
    std::string all;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(descriptor, buffer, sizeof buffer)) > 0)
      all.append(buffer, static_cast<std::size_t>(got));
    return all;
  }

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  bool reaped_ = false;
};

/// What a finished command left behind.
struct Finished {
  int status = 0;
  std::string output;
  std::string error;
};

/// Waits for the end. What is left of its output must fit a pipe's buffer on one of the two
/// streams.
inline Finished finished(Subprocess& child) {
  child.close_input();
  Finished finished;
  finished.output = child.read_rest_of_output();
  finished.error = child.read_rest_of_error();
  finished.status = child.wait();
  return finished;
}

/// Runs a command to its end.
inline Finished run(const std::vector<std::string>& command,
                    const Subprocess::Environment& extra = {}) {
  Subprocess child(command, extra);
  return finished(child);
}

}  // namespace ebb::support
