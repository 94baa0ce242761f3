// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace ebb::agent {

/// Where a cleanup meets the job's language: the agent's thread asks, a thread of the language's
/// own (which holds its interpreter's lock as any other does) collects. Thread-safe.
class Collector {
 public:
  static constexpr std::uint32_t kGarbage = 1;
  static constexpr std::uint32_t kDeviceCaches = 2;

  /// For the language's thread: waits for a request. 0 after close().
  std::uint32_t await() EBB_EXCLUDES(mutex_);
  void collected() EBB_EXCLUDES(mutex_);

  /// For the agent's thread: asks and waits, `seconds` at most: an interpreter that is busy in one
  /// long call answers later, and the cleanup goes on without it. False where nobody collects.
  bool collect(std::uint32_t wanted, double seconds) EBB_EXCLUDES(mutex_);

  /// The supervisor is gone: whoever waits is sent home.
  void close() EBB_EXCLUDES(mutex_);

  // For pthread_atfork: in the child nobody waits any more.
  void before_fork() EBB_ACQUIRE(mutex_) { mutex_.lock(); }
  void after_fork_in_parent() EBB_RELEASE(mutex_) { mutex_.unlock(); }
  void after_fork_in_child() EBB_RELEASE(mutex_);

 private:
  base::Mutex mutex_;
  base::Condition changed_;
  std::uint32_t wanted_ EBB_GUARDED_BY(mutex_) = 0;
  std::uint64_t asked_ EBB_GUARDED_BY(mutex_) = 0;
  std::uint64_t answered_ EBB_GUARDED_BY(mutex_) = 0;
  bool present_ EBB_GUARDED_BY(mutex_) = false;
  bool closed_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::agent
