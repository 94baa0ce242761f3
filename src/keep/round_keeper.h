// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fork.h"
#include "base/result.h"
#include "keep/budget.h"
#include "keep/cleanup.h"
#include "keep/role.h"

namespace ebb::keep {

/// When a RoundKeeper cleans up.
struct RoundSchedule {
  bool automatic = false;  ///< decide by measured benefit and cost instead of counting
  int every = 0;           ///< 0 never, N after every N-th round; unused when automatic
  bool cuda_empty_cache = false;
};

/// Cleans up at the rounds of a job. Thread-safe, and whole in a forked child. The cleaner and the
/// clock outlive it.
class RoundKeeper {
 public:
  /// Code::bad_input where `every` is negative.
  static base::Result<std::unique_ptr<RoundKeeper>> create(
      Role role, const RoundSchedule& schedule, Cleaner& cleaner,
      const base::Clock& clock = base::system_clock());

  /// Call after each round, when the round's objects are gone. The report where it cleaned.
  /// A keeper that is off (every = 0) does not count.
  std::optional<CleanupReport> round_done() EBB_EXCLUDES(mutex_);

  /// The same for callers that know the number of the round (from 0): fires where
  /// (round + 1) is a multiple of `every`, and once per round however often it is announced.
  std::optional<CleanupReport> round_done(std::uint64_t round) EBB_EXCLUDES(mutex_);

  /// Memory is at the critical threshold: clean regardless of schedule and budget.
  CleanupReport critical() EBB_EXCLUDES(mutex_);

  Role role() const { return role_; }
  const RoundSchedule& schedule() const { return schedule_; }
  /// Rounds counted so far.
  std::uint64_t rounds() const EBB_EXCLUDES(mutex_);

 private:
  RoundKeeper(Role role, const RoundSchedule& schedule, Cleaner& cleaner, const base::Clock& clock);
  bool is_due(std::uint64_t rounds) EBB_EXCLUDES(mutex_);
  CleanupReport clean(std::uint64_t round);

  const Role role_;
  const RoundSchedule schedule_;
  Cleaner& cleaner_;
  const base::Clock& clock_;

  mutable base::ForkMutex mutex_{3};
  std::uint64_t rounds_ EBB_GUARDED_BY(mutex_) = 0;
  std::optional<std::uint64_t> last_round_ EBB_GUARDED_BY(mutex_);
  CleanupBudget budget_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::keep
