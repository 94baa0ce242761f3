// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/store.h"

namespace ebb::story {

/// One reading of what a process shares, in bytes.
struct Share {
  double seconds = 0;
  double held = 0;   ///< anonymous
  double saved = 0;  ///< of that, by sharing
  double uss = 0;

  /// Anonymous memory with shared pages divided by their sharers.
  double pss() const { return held - saved; }
  /// Anonymous memory that is its own.
  double own() const { return uss < held ? uss : held; }
};

/// One process of a family.
struct Relative {
  std::size_t index = 0;              ///< in RecordedRun::processes
  std::optional<std::size_t> parent;  ///< in the family
  double began = 0, ended = INFINITY;
  /// Anonymous memory when it was forked, or of a process without parent when it first forked.
  double inherited = 0;
  std::vector<Share> shares;

  bool is_there(double seconds) const { return began <= seconds && seconds < ended; }
  /// The last reading until then; null before the first.
  const Share* at(double seconds) const;
};

/// Processes that shared anonymous memory: parents with their children, children of one parent.
using Family = std::vector<Relative>;

/// All with more than one member. A process that shares next to nothing has run another program
/// since its fork, and is in none.
std::vector<Family> families_of(const record::RecordedRun& run);

}  // namespace ebb::story
