// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fl/sweep_run.h"

// The simulator's results. What is here and in the files beside it, but for the page, needs no more
// than fl and term: ebb-simulate is built without a store and pages too.

namespace ebb::show {

/// What was simulated, and everything that it came to.
struct SimulateOutcome : fl::SweepOutcome {
  bool compare = false;
  std::string page;                ///< "" where none was written
  std::vector<std::int64_t> runs;  ///< their numbers in the record
  /// Of each method's repeats, where the page stands beside the pages of runs; empty where not.
  std::vector<std::vector<std::int64_t>> run_of{};
  std::string db;  ///< the record that was named; "": the default one
};

}  // namespace ebb::show
