// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/store.h"

namespace ebb::story {

/// What one process of a family came to hold by itself.
struct CopyingProcess {
  std::size_t index = 0;         ///< in RecordedRun::processes
  bool is_root = false;          ///< the others were forked from it
  std::uint64_t uss_before = 0;  ///< what was its own at first; nothing of a process when forked
  std::uint64_t uss_after = 0;   ///< the most since
};

/// Processes that were forked from one another, and the copies that they made of the pages they
/// shared. A fork shares all anonymous memory; a page that one of them writes to, be it only a
/// reference count, becomes a copy. Then the family holds more, while each of its processes holds
/// what it held before. Where workers end and others follow, this is about those that copied most.
struct Copying {
  std::vector<CopyingProcess> processes;
  std::uint64_t copied = 0;        ///< that were there at once
  std::uint64_t copied_late = 0;   ///< of that, in the last third of the time it was watched
  std::size_t readings_late = 0;   ///< in that third; without one it is not known
  std::uint64_t still_shared = 0;  ///< at the end: so much more, if each gets a copy of its own
  std::uint64_t held_before = 0;   ///< by all of them together, each page counted once
  std::uint64_t held_after = 0;
  double since = 0, until = 0;  ///< seconds in which the copies were made
  std::size_t readings = 0;     ///< of the family meanwhile
  std::size_t times = 0;        ///< how often workers were forked and copied enough to matter

  /// Worth a verdict: not the few pages that every forked program touches.
  bool matters() const;
  /// Nearly nothing was copied any more towards the end.
  bool levels_off() const { return readings_late > 0 && 10 * copied_late < copied; }
  bool goes_on() const { return readings_late > 0 && !levels_off(); }
};

/// The families of a run in which copies were seen, those with most copies first. Copies are told
/// from growth by two sums over a family, of anonymous memory and of its pss: growth raises both
/// alike; copies raise pss alone. What forks and exits do to both sums is known: a new process adds
/// what its parent held, all of it shared; one that ends takes what was its own along. Empty where
/// the record has no shares (an older one, or an older kernel).
std::vector<Copying> copying_in(const record::RecordedRun& run);

}  // namespace ebb::story
