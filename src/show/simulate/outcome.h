// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fact/cleanup.h"
#include "fl/comparison.h"

// The simulator's results. What is here and in the files beside it, but for the page, needs no more
// than fl and term: ebb-simulate is built without a store and pages too.

namespace ebb::show {

/// A cleanup between two simulations.
struct CleanupBetween {
  std::string after;  ///< whose simulation it followed
  std::uint64_t seed = 0;
  fact::Cleanup cleanup;
};

/// What was simulated, and everything that it came to.
struct SimulateOutcome {
  bool compare = false;
  fl::Config config;  ///< of the first method and seed
  std::vector<std::uint64_t> seeds;
  std::vector<fl::MethodRuns> methods;
  std::vector<CleanupBetween> cleanups;
  std::optional<std::uint64_t> start_rss;  ///< with data and trainer, before the first simulation
  std::string folder;                      ///< "" where none was written
  std::string page;                        ///< likewise
  std::vector<std::int64_t> runs;          ///< their numbers in the record
  /// Of each method's repeats, where the page stands beside the pages of runs; empty where not.
  std::vector<std::vector<std::int64_t>> run_of{};
  std::string db;  ///< the record that was named; "": the default one
  bool stopped = false;
};

}  // namespace ebb::show
