// SPDX-License-Identifier: Apache-2.0
#include "run/launch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace ebb::run {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Ending ending_of(int wait_status) {
  Ending ending;
  if (WIFEXITED(wait_status)) ending.exit_code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) ending.signal = WTERMSIG(wait_status);
  return ending;
}

base::Result<Launched> launch(const std::vector<std::string>& command,
                              const std::vector<std::string>& environment, const SignalState& state,
                              bool silent) {
  std::vector<char*> words = pointers_to(command);
  std::vector<char*> variables = pointers_to(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "cannot make a pipe");
  const base::FileDescriptor from(ends[0]);
  base::FileDescriptor to(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::system_error(errno, "cannot start a process");
  if (pid == 0) {
    if (state.ignores_children) ::signal(SIGCHLD, SIG_IGN);
    ::sigprocmask(SIG_SETMASK, &state.mask, nullptr);
    if (silent) {
      const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(null, stream);
    }
    ::execvpe(words[0], words.data(), variables.data());
    const int why = errno;
    const ssize_t told = ::write(to.get(), &why, sizeof why);
    ::_exit(told > 0 && why == ENOENT ? 127 : 126);
  }
  to.close();
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(from.get(), &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  Launched launched{pid, {}, 0};
  if (got != static_cast<ssize_t>(sizeof why)) return launched;
  ::waitpid(pid, nullptr, 0);
  launched.exit_code = why == ENOENT ? 127 : 126;
  launched.trouble = "cannot run " + command.front() + ": " + std::strerror(why);
  return launched;
}

void end_as(const Ending& ending) {
  if (ending.signal) {
    // The command has left its core; this program's own would only stand in its way.
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(*ending.signal, SIG_DFL);
    sigset_t others;
    sigfillset(&others);
    sigdelset(&others, *ending.signal);
    ::sigprocmask(SIG_SETMASK, &others, nullptr);
    ::raise(*ending.signal);
    ::_exit(128 + *ending.signal);
  }
  ::_exit(ending.exit_code.value_or(1));
}

}  // namespace ebb::run
