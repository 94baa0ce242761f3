// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

/// Whether children of a process with threads may start some themselves: the thread sanitizer ends
/// those that do. Everybody else tests them.
#if defined(EBB_THREAD_SANITIZER)
#define EBB_THREADS_IN_CHILDREN 0
#else
#define EBB_THREADS_IN_CHILDREN 1
#endif

/// Whether children of a process whose threads allocate may do so themselves: in them the address
/// sanitizer's allocator may wait for a lock of a thread that is not there. Everybody else tests
/// them.
#if defined(__SANITIZE_ADDRESS__)
#define EBB_MALLOC_IN_CHILDREN 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EBB_MALLOC_IN_CHILDREN 0
#endif
#endif
#ifndef EBB_MALLOC_IN_CHILDREN
#define EBB_MALLOC_IN_CHILDREN 1
#endif

namespace ebb::support {

/// A forked child that waits until it is killed. Killed and reaped with its owner, which stays on
/// the thread that made it.
class WaitingChild {
 public:
  WaitingChild() : pid_(fork()) {
    if (pid_ < 0) std::abort();
    if (pid_ == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
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

/// Runs `body` in a forked child; whether it returned true there. A child that hangs is killed
/// after a time that no machine needs.
template <class Body>
bool holds_in_child(Body&& body) {
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    alarm(600);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status == 0;
}

/// Returns once a thread of this process waits for something.
inline void wait_until_asleep(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  while (true) {
    std::FILE* file = std::fopen(path.c_str(), "r");
    if (file == nullptr) std::abort();
    char state = 0;
    const int read = std::fscanf(file, "%*d (%*[^)]) %c", &state);
    std::fclose(file);
    if (read == 1 && state == 'S') return;
    sched_yield();
  }
}

/// Returns once every thread but the caller has ended: what one of them holds when the
/// process forks, a lock of SQLite for instance, is held in the child for ever.
inline void wait_until_alone() {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  // The thread sanitizer has one of its own.
  while (threads() > (EBB_THREADS_IN_CHILDREN ? 1 : 2))
    sched_yield();
}

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
