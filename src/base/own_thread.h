// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::base {

/// Marks the calling thread, while it lives, as one that Ebb runs for itself in somebody's process:
/// where only such threads are left, that process is over (agent/first_thread.h). Threads that
/// somebody waits for need none.
class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

/// How many there are: never more than live.
unsigned own_threads();

/// One more (1) or one less (-1), for a thread that is not marked: it says so itself.
void count_own_thread(int by);

/// For a forked child, on its only thread.
void forget_own_threads();

/// Another shared object of this process counts: its count_own_thread is called as well from now
/// on.
void tell_of_own_threads(void (*count_there)(int by));

}  // namespace ebb::base
