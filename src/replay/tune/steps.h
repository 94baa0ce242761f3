// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "replay/workload.h"

namespace ebb::replay {

/// A recorded job cut into the steps that it repeats. The first one is everything before them.
struct Steps {
  /// First operation of each step, in order; the first is 0.
  std::vector<std::uint32_t> begins;
  /// The operation after the last whole step: a step that the recording cut off, and frees after
  /// which nothing is allocated any more, belong to none.
  std::uint32_t end = 0;
  /// The first step that may happen again; those before it make what stays, weights and the state
  /// of an optimiser, and happen once.
  std::size_t steady = 0;
  /// By step: alike steps have the same number. Steps are alike when they allocate about as often.
  std::vector<std::uint32_t> kinds;
  /// Whether the job repeats itself. Where it does not (a server, a graph that differs each time)
  /// it is cut where little is live, and the pieces only show how sizes and lifetimes are mixed.
  bool repeats = false;

  std::size_t count() const { return begins.size(); }
  std::uint32_t end_of(std::size_t step) const {
    return step + 1 < begins.size() ? begins[step + 1] : end;
  }
};

/// Finds the steps of a job by what is live: a step begins where everything that the one before it
/// needed is gone. A job too short to be cut is one step.
Steps find_steps(const Workload& workload);

}  // namespace ebb::replay
