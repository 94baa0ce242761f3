// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/json.h"
#include "keep/diagnosis.h"
#include "trend/assessment.h"

namespace ebb::keep {

/// What each part of a process's memory does over time: the numbers that a verdict rests on.
struct MemoryTrends {
  explicit MemoryTrends(const MemorySeries& series);

  trend::Assessment rss;
  trend::Assessment anon;  ///< or rss where it is not known
  trend::Assessment file;
  trend::Assessment shmem;
  trend::Assessment live;
  trend::Assessment retained;
  trend::Assessment children;
  trend::Assessment floor;  ///< what cleanups leave

  /// What anonymous memory rises to between its floors.
  trend::Assessment peaks(const MemorySeries& series) const;

  /// A curve that rose in its first half and hardly since is judged by its second: the tail of a
  /// warm-up has no change point. Else the same as `anon` and `live`.
  trend::Assessment anon_after_warm_up(const MemorySeries& series) const;
  trend::Assessment live_after_warm_up(const MemorySeries& series) const;

  /// Cleanups returned so much that without them it would have been kept.
  bool cleanups_paid(const MemorySeries& series) const;
  /// One of them returned half of the memory, however many came before it, when that was in use.
  bool one_cleanup_paid(const MemorySeries& series) const;

  /// Whether so few readings that they have no slope still say who holds what grew: a heap in
  /// pieces takes long to read.
  bool is_kept_by_few_readings(const MemorySeries& series) const;

  /// Nothing where memory does not grow or the limit is not known.
  std::optional<trend::TimeUntil> time_until_limit(const MemorySeries& series) const;
};

/// The numbers as JSON; the keys are documented in docs/watch.md.
base::Json evidence_of(const MemorySeries& series, const MemoryTrends& trends);

}  // namespace ebb::keep
