// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/collector.h"
#include "base/mutex.h"
#include "base/reclaimer.h"
#include "keep/cleanup.h"
#include "wire/channel.h"

namespace ebb::agent {

/// The agent of this process: a thread that sleeps until the supervisor asks something. Lives as
/// long as the process; a forked child gets a thread of its own.
class Agent {
 public:
  /// Cleans on the agent's behalf: a wire::Clean in, a wire::Cleaned out.
  using Delegate = void (*)(const void* ask, void* cleaned);

  /// `socket`: where the supervisor listens.
  explicit Agent(std::string socket);

  /// Starts the thread; without one the agent is simply not there.
  void start();

  bool is_supervised() const EBB_EXCLUDES(mutex_);
  /// Sends where somebody listens; dropped otherwise.
  void tell(const wire::Message& message) EBB_EXCLUDES(mutex_);
  void set_cleaner(Delegate delegate);
  Collector& collector() { return collector_; }

  // For pthread_atfork.
  void before_fork() EBB_ACQUIRE(mutex_);
  void after_fork_in_parent() EBB_RELEASE(mutex_);
  void after_fork_in_child() EBB_RELEASE(mutex_);

 private:
  static void* thread_main(void* self);
  void serve();
  bool connect(const wire::Hello& hello) EBB_EXCLUDES(mutex_);
  void disconnect() EBB_EXCLUDES(mutex_);
  void answer(const wire::Message& message);
  wire::Reading read();
  wire::Cleaned clean(const wire::Clean& ask);
  wire::Cleaned clean_here(const wire::Clean& ask);
  void set_pressure(bool on);

  const std::string socket_;
  base::ReclaimerRegistry reclaimers_;
  std::optional<keep::Cleaner> cleaner_;  // made by the thread: detection opens files
  std::atomic<Delegate> delegate_{nullptr};
  Collector collector_;
  bool under_pressure_ = false;

  mutable base::Mutex mutex_;
  std::optional<wire::Channel> channel_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::agent
