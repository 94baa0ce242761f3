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
  std::uint64_t uss_before = 0;  ///< what was its own when the family was first read with it
  std::uint64_t uss_after = 0;   ///< and the most since
};

/// Processes that were forked from one another, and the copies that they made of the pages they
/// shared. A fork shares all anonymous memory; a page that one of them writes to, be it only a
/// reference count, becomes a copy. Then the family holds more, while each of its processes holds
/// what it held before.
struct Copying {
  std::vector<CopyingProcess> processes;
  std::uint64_t copied = 0;  ///< at least: what was copied before the first reading is not known
  std::uint64_t copied_late = 0;  ///< of that, in the last third of the time from `since` to `last`
  std::uint64_t still_shared = 0;  ///< at the end: so much more, if each gets a copy of its own
  std::uint64_t pss_before = 0;    ///< of the family, at `since`
  std::uint64_t pss_after = 0;     ///< and at `until`
  double since = 0, until = 0;     ///< seconds in which copies were made
  double last = 0;                 ///< when it was read last
  std::size_t readings = 0;  ///< of the whole family that could be compared with the one before

  /// Worth a verdict: not the few pages that every forked program touches.
  bool matters() const;
  /// Nearly nothing was copied any more towards the end.
  bool levels_off() const { return 10 * copied_late < copied; }
};

/// The families of a run in which copies were seen, those with most copies first. Copies are told
/// from growth by two sums over a family, of anonymous memory and of its pss: growth raises both
/// alike; copies raise pss alone. Between two readings among which a process came or ended, nothing
/// is concluded. Empty where the record has no shares (an older one, or an older kernel).
std::vector<Copying> copying_in(const record::RecordedRun& run);

}  // namespace ebb::story
