// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/device_change.h"
#include "base/fork.h"

namespace ebb::base {

/// When in a cleanup a reclaimer runs: garbage first, then caches that the garbage may have pinned.
/// The allocator's own give-back comes after all of them.
enum class Stage : std::uint8_t {
  collector,     ///< a language's garbage collector
  cache,         ///< a framework's host-side cache
  device_cache,  ///< a framework's device cache; only when the cleanup asks for it
  /// No part of any cleanup: tells what a framework holds of devices, and frees nothing.
  device_reading,
};

/// What one call of a reclaimer did.
struct Reclaimed {
  bool ok = true;
  std::uint64_t count = 0;              ///< objects, entries or bytes, as `detail` says
  std::string detail;                   ///< for people; may be empty
  std::vector<DeviceChange> devices{};  ///< whose memory it gave back
};

/// Something that can free memory when asked. Called from any thread, one cleanup at a time.
class Reclaimer {
 public:
  virtual ~Reclaimer() = default;
  virtual Reclaimed reclaim() = 0;
};

/// The reclaimers of a process, by name. Thread-safe. In a forked child no call is under way; one
/// that forked from inside its call goes on there by itself.
class ReclaimerRegistry {
 public:
  using Id = std::uint64_t;

  struct Entry {
    Id id = 0;
    std::string name;
    Stage stage = Stage::cache;
    std::shared_ptr<Reclaimer> reclaimer;
  };

  /// Reclaimers of one stage run in the order in which they were added.
  Id add(std::string name, Stage stage, std::shared_ptr<Reclaimer> reclaimer);

  /// Takes it out. When this returns no call of it is under way, so that its context may die;
  /// unless it removes itself from inside its own call, which only keeps it from running again.
  /// False when there is no such id.
  bool remove(Id id);

  /// Names, for reports; ordered as they run.
  std::vector<std::string> names() const;

  /// Runs every reclaimer, `device_cache` ones only if asked, collectors unless told otherwise,
  /// outside the registry's lock, and tells `observer(entry, reclaimed, seconds)` about each. An
  /// exception is a failed reclaimer.
  template <class Observer>
  void run(bool device_caches, Observer&& observer, bool collectors = true) {
    run(collectors ? Stage::collector : Stage::cache,
        device_caches ? Stage::device_cache : Stage::cache, observer);
  }

  /// The same for those of one stage alone.
  template <class Observer>
  void run_only(Stage stage, Observer&& observer) {
    run(stage, stage, observer);
  }

 private:
  struct Running {
    std::uint64_t call = 0;
    Id id = 0;
    std::thread::id thread;
  };

  template <class Observer>
  void run(Stage first, Stage last, Observer& observer) {
    for (const Entry& entry : begin_run(first, last)) {
      double seconds = 0;
      Reclaimed reclaimed;
      if (!call(entry, reclaimed, seconds)) continue;
      observer(entry, reclaimed, seconds);
    }
  }

  std::vector<Entry> begin_run(Stage first, Stage last) const;
  bool call(const Entry& entry, Reclaimed& reclaimed, double& seconds);

  static void after_fork_in_child(void* self);

  Condition finished_;
  std::vector<Entry> entries_ EBB_GUARDED_BY(mutex_);
  std::vector<Running> running_ EBB_GUARDED_BY(mutex_);
  Id next_id_ EBB_GUARDED_BY(mutex_) = 1;
  std::uint64_t calls_ EBB_GUARDED_BY(mutex_) = 0;
  mutable ForkMutex mutex_{0, after_fork_in_child, this};
};

}  // namespace ebb::base
