// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/collector.h"
#include "agent/first_thread.h"
#include "base/fork.h"
#include "base/reclaimer.h"
#include "fact/cleanup.h"
#include "heap/private_allocators.h"
#include "keep/cleanup.h"
#include "wire/channel.h"

namespace ebb::agent {

/// The agent of this process: a thread that sleeps until the supervisor asks something. Lives as
/// long as the process. A forked child gets a thread and a connection of its own; in one that is
/// lost (base/fork.h) that thread says so and ends, and every function does nothing.
class Agent {
 public:
  /// Cleans on the agent's behalf: a wire::Clean in, a wire::CleanupRecord out.
  using Delegate = void (*)(const void* ask, void* cleaned);

  /// `socket`: where the supervisor listens.
  explicit Agent(std::string socket);

  /// Starts the thread; without one the agent is simply not there.
  void start();

  bool is_supervised() const EBB_EXCLUDES(mutex_);
  /// Sends where somebody listens; the first time, it connects, so that a job which is over in a
  /// moment is heard as well. Never waits: what cannot be sent yet is sent by the thread, as far as
  /// it is not absurdly much; after the last connection it is dropped.
  void tell(const wire::Message& message) EBB_EXCLUDES(mutex_);
  void set_cleaner(Delegate delegate);
  /// Null where nobody will ask for a collection.
  Collector* collector() { return has_left() ? nullptr : &collector_; }

  /// A framework was loaded whose threads take turns: they share malloc's arenas from now on,
  /// unless the environment says how many there are. True where they do.
  bool share_arenas();

  /// What cleans in this agent's place cannot do so in this process any more: as if lost.
  void leave() { left_ = true; }

 private:
  static void* thread_main(void* self);
  static void after_fork_in_child(void* self);
  bool has_left() const { return left_ || base::fork_lost(); }
  void serve();
  void say_left() const;
  bool connect(const wire::Hello& hello, bool wait) EBB_EXCLUDES(mutex_);
  void disconnect() EBB_EXCLUDES(mutex_);
  void forget_early() EBB_EXCLUDES(mutex_);
  void answer(const wire::Message& message);
  void see_to_hook();
  wire::Reading read();
  wire::Cards read_cards();
  fact::Cleanup clean(const wire::Clean& ask);
  fact::Cleanup empty_device_caches();
  void give_back_beside();
  void tell_beside();
  heap::PrivateAllocators& beside();
  fact::Cleanup clean_here_or_there(const wire::Clean& ask);
  keep::Cleaner& cleaner();
  void set_pressure(bool on) EBB_EXCLUDES(mutex_);

  const std::string socket_;
  base::ReclaimerRegistry reclaimers_;
  std::atomic<keep::Cleaner*> cleaner_{nullptr};  // made by the thread, on first use
  std::atomic<Delegate> delegate_{nullptr};
  // Of the thread alone, made on first use; and what it last said of them.
  heap::PrivateAllocators* beside_ = nullptr;
  std::vector<fact::PrivateAllocator>* told_ = nullptr;
  Collector collector_;
  FirstThread first_thread_;
  int hook_asked_ = 0;  // by the thread
  std::atomic<bool> left_{false};
  std::atomic<bool> shares_arenas_{false};

  bool under_pressure_ EBB_GUARDED_BY(mutex_) = false;
  std::optional<wire::Channel> channel_ EBB_GUARDED_BY(mutex_);
  bool may_connect_ EBB_GUARDED_BY(mutex_) = true;  ///< for the first time
  bool has_tried_ EBB_GUARDED_BY(mutex_) = false;   ///< when something was told
  std::vector<wire::Message> early_ EBB_GUARDED_BY(mutex_);
  mutable base::ForkMutex mutex_{4, after_fork_in_child, this};
};

}  // namespace ebb::agent
