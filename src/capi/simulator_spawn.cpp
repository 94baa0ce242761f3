// SPDX-License-Identifier: Apache-2.0
#include "capi/simulator_spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "keep/simulator_environment.h"

extern char** environ;

namespace ebb::capi {
namespace {

using base::FileDescriptor;

/// Room for the rounds of a simulation that nobody asks for a while.
constexpr int kPipeBytes = 1 << 20;

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Not 0 to 2, even where those are free: there the child's own are put.
FileDescriptor above_standard(FileDescriptor end) {
  if (end.get() > STDERR_FILENO) return end;
  return FileDescriptor(::fcntl(end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

base::Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "cannot make a pipe");
  Pipe made{above_standard(FileDescriptor(ends[0])), above_standard(FileDescriptor(ends[1]))};
  if (!made.read_end.is_open() || !made.write_end.is_open() ||
      ::fcntl(made.read_end.get(), F_SETFL, O_NONBLOCK) != 0)
    return base::system_error(errno, "cannot make a pipe");
  // Only a convenience: an unprivileged process may have used up its share.
  static_cast<void>(::fcntl(made.write_end.get(), F_SETPIPE_SZ, kPipeBytes));
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// That of this process, and what the program would otherwise restart itself for.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (const keep::EnvironmentVariable& lacking : keep::simulator_environment())
    variables.push_back(lacking.name + "=" + lacking.value);
  const std::size_t count = variables.size();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool is_set =
        std::any_of(variables.begin(), variables.begin() + std::ptrdiff_t(count),
                    [&](const std::string& ours) { return ours.starts_with(name); });
    if (!is_set) variables.emplace_back(text);
  }
  return variables;
}

/// What the child starts with: nothing on stdin, the pipes, no blocked signals, and the usual fate
/// where its parent ignores one, as Python does with SIGPIPE.
class Beginning {
 public:
  Beginning(const Pipe& output, const Pipe& error) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, output.write_end.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, error.write_end.get(), STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD, SIGTERM})
      sigaddset(&signals, number);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Beginning() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  base::Result<pid_t> spawn(const std::string& program, std::vector<std::string>& words) const {
    std::vector<std::string> variables = environment();
    pid_t pid = -1;
    const int failure = ::posix_spawn(&pid, program.c_str(), &files_, &attributes_,
                                      pointers(words).data(), pointers(variables).data());
    if (failure != 0) return base::system_error(failure, "cannot start %s", program.c_str());
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

base::Result<SpawnedSimulator> spawn_simulator(const std::string& program,
                                               std::vector<std::string> words) {
  auto output = make_pipe();
  if (!output) return output.error();
  auto error = make_pipe();
  if (!error) return error.error();
  const auto pid = Beginning(*output, *error).spawn(program, words);
  if (!pid) return pid.error();
  return SpawnedSimulator{*pid, std::move(output->read_end), std::move(error->read_end)};
}

}  // namespace ebb::capi
