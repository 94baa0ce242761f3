// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "base/device_change.h"
#include "base/fork.h"
#include "fact/card.h"

namespace ebb::agent {

/// Where a cleanup meets the job's language: the agent's thread asks, a thread of the language's
/// own (which holds its interpreter's lock as any other does) collects. Thread-safe. In a forked
/// child nobody waits any more, on either side.
class Collector {
 public:
  static constexpr std::uint32_t kGarbage = 1;
  static constexpr std::uint32_t kDeviceCaches = 2;
  static constexpr std::uint32_t kLibraryPools = 4;
  static constexpr std::uint32_t kCards = 8;  ///< nothing is collected: what it holds of cards

  /// A collection of the largest heaps takes less.
  static constexpr double kPatienceSeconds = 10;

  /// For the language: true for the first who would serve, in this process and its forks, so that
  /// nobody else does.
  bool claim() { return !is_claimed_.exchange(true); }
  bool is_claimed() const { return is_claimed_; }

  /// For the language's thread: waits for a request. 0 after close().
  std::uint32_t await() EBB_EXCLUDES(mutex_);
  void collected() EBB_EXCLUDES(mutex_);
  /// What it gave back of a device, before it says collected().
  void changed(const base::DeviceChange& change) EBB_EXCLUDES(mutex_);
  /// A card that it holds memory of, before it says collected().
  void saw(const fact::CardSample& card) EBB_EXCLUDES(mutex_);

  enum class Answer : std::uint8_t {
    collected,
    late,    ///< whoever collects did not do so in time
    nobody,  ///< nobody collects in this process
  };

  /// For the agent's thread: asks and waits, `seconds` at most: an interpreter that is busy in one
  /// long call answers later, and the cleanup goes on without it.
  Answer collect(std::uint32_t wanted, double seconds) EBB_EXCLUDES(mutex_);

  /// What was given back of devices since the last call, late answers included.
  std::vector<base::DeviceChange> take_changes() EBB_EXCLUDES(mutex_);
  /// The cards that were told since the last call, each once, by number.
  std::vector<fact::CardSample> take_cards() EBB_EXCLUDES(mutex_);

  /// The supervisor is gone or the language ends: whoever waits is sent home.
  void close() EBB_EXCLUDES(mutex_);

 private:
  static void after_fork_in_child(void* self);

  std::atomic<bool> is_claimed_{false};
  base::Condition moved_;
  std::vector<base::DeviceChange> changes_ EBB_GUARDED_BY(mutex_);
  std::map<std::uint32_t, fact::CardMemory> cards_ EBB_GUARDED_BY(mutex_);
  std::uint32_t wanted_ EBB_GUARDED_BY(mutex_) = 0;
  std::uint64_t asked_ EBB_GUARDED_BY(mutex_) = 0;
  std::uint64_t answered_ EBB_GUARDED_BY(mutex_) = 0;
  bool present_ EBB_GUARDED_BY(mutex_) = false;
  bool closed_ EBB_GUARDED_BY(mutex_) = false;
  base::ForkMutex mutex_{4, after_fork_in_child, this};
};

}  // namespace ebb::agent
