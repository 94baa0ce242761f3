// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>

#include "base/fork.h"

namespace ebb::agent {

/// What becomes of a process whose first thread ends before others (pthread_exit in main). The C
/// library ends it, with status 0 and all that goes with exit(), when its last thread ends; a
/// thread of ours that goes on would keep it for ever. So, from the first one's end on, a thread
/// waits until only ours are left and then does in their place what the last one would. Until then
/// the process is managed like any other, and none of ours takes a signal from it.
class FirstThread {
 public:
  FirstThread() = default;
  ~FirstThread();
  FirstThread(const FirstThread&) = delete;
  FirstThread& operator=(const FirstThread&) = delete;

  /// On the first thread of a process, before there is one of ours; again in each forked child.
  void begin();

  /// It has ended, and nobody waits for the others: it did not end through the C library, or there
  /// was no thread to wait with. Threads of ours must end by themselves then. Asks the kernel.
  bool has_ended_unseen() const;

 private:
  static void ended(void* self);
  static void* wait_for_others(void* self);

  const unsigned* threads_ = nullptr;  // how many the C library counts, where it tells
  bool has_key_ = false;
  pthread_key_t key_{};
  pid_t process_ = 0;
  sigset_t signals_{};  // what the first thread blocked
  std::atomic<bool> is_seen_to_{false};
  base::ForkMutex mutex_{4};
};

}  // namespace ebb::agent
