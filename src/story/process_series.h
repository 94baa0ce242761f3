// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "keep/diagnosis.h"
#include "record/store.h"
#include "trend/series.h"

namespace ebb::story {

/// What `keep` judges a process by, out of a record. Evenly spaced in time however the record was
/// thinned: the lowest value of each of at most 1,024 stretches.
struct ProcessSeries {
  std::vector<trend::Point> rss, anon, peaks, file, shmem, live, retained, after_cleanup,
      live_after, retained_after, beside;
  std::vector<fact::PrivateAllocator> private_allocators;
  std::vector<double> round_ends;
  keep::CleanupSum cleanups;

  /// Forgets what only the agent could know.
  void forget_heap();

  /// Points into this object. `room` is what is left below the limit at the end.
  keep::MemorySeries view(std::optional<std::uint64_t> room) const;
};

/// Rounds are the process's own, else those of the process that announced most.
ProcessSeries series_of(const record::RecordedRun& run, const record::ProcessHistory& history);

/// Since when the agent in a process had nothing to say, where the supervisor found it silent and
/// it did not answer again before the end.
std::optional<double> silent_since(const record::RecordedRun& run,
                                   const record::ProcessHistory& history);

/// What cleanups came to: those of one process, or of all.
keep::CleanupSum cleanups_of(const record::RecordedRun& run,
                             const std::optional<record::ProcessKey>& process);

/// Of all processes together, evenly spaced; each counts with its last reading until it ends.
struct TreeSeries {
  std::vector<trend::Point> rss;
  std::vector<trend::Point> held;  ///< anonymous memory, resident or swapped out
  std::vector<trend::Point> pss;   ///< only moments at which that of every process is known
  std::vector<trend::Point> processes;
  std::size_t pss_readings = 0;  ///< how often pss was read, of the process where it was most often
};
TreeSeries tree_of(const record::RecordedRun& run);

}  // namespace ebb::story
