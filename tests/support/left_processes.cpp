// SPDX-License-Identifier: Apache-2.0
#include "support/left_processes.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace ebb::support {
namespace {

constexpr const char* kVariable = "EBB_TEST_OF";

/// A process of the same number may have run a moment ago.
const std::string& value() {
  static const std::string text = [] {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::to_string(getpid()) + "-" + std::to_string(now.tv_sec) + "." +
           std::to_string(now.tv_nsec) + "/";
  }();
  return text;
}

/// The script ends what is left once nobody holds the other end of its input. In a machine that is
/// thrown away it may not be there, and is not needed.
bool start_script() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const std::string entry = std::string(kVariable) + "=" + value();
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    dup2(ends[0], 0);
    unsetenv(kVariable);
    execl("/bin/sh", "sh", EBB_END_LEFT, entry.c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);  // the other end stays open as long as this process lives
  waitpid(pid, nullptr, 0);
  return true;
}

}  // namespace

void mark_as_ours() {
  setenv(kVariable, value().c_str(), 1);
}

void end_what_is_left() {
  [[maybe_unused]] static const bool is_started = start_script();
}

}  // namespace ebb::support
