// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/simulate_options.h"
#include "fl/comparison.h"
#include "keep/cleanup.h"
#include "term/progress.h"

namespace ebb::cli {

/// What is large, before round 0.
std::string plan_text(const fl::MemoryPlan& plan, const term::Style& style);

/// A cleanup between two simulations.
struct CleanupBetween {
  std::string after;  ///< whose simulation it followed
  std::uint64_t seed = 0;
  std::uint64_t rss_before = 0;
  std::uint64_t rss_after = 0;
  std::uint64_t returned = 0;
  double seconds = 0;
};

/// Everything that a finished order came to.
struct SimulateOutcome {
  std::vector<fl::MethodRuns> methods;
  std::vector<CleanupBetween> cleanups;
  std::uint64_t start_rss = 0;     ///< with data and trainer, before the first simulation
  std::string folder;              ///< "" where none was written
  std::vector<std::int64_t> runs;  ///< their numbers in the record
  bool stopped = false;
};

/// The tables at the end.
std::string outcome_text(const SimulateOutcome& outcome, const term::Style& style);

/// What --json prints.
base::Json outcome_json(const SimulateOrder& order, const SimulateOutcome& outcome);

/// A simulation under way, on stderr: a bar where somebody watches, otherwise a line for every
/// tenth of the rounds. Not thread-safe.
class SimulateProgress {
 public:
  SimulateProgress(std::string title, std::uint32_t rounds, bool quiet);

  void show(const fl::RoundReport& round);
  /// A line of text above the bar.
  void say(const std::string& line);

 private:
  std::string line_of(const fl::RoundReport& round, double seconds_left) const;

  const std::string title_;
  const std::uint32_t rounds_;
  const bool quiet_;
  const bool redraws_;
  std::unique_ptr<term::Progress> bar_;
  std::optional<fl::Scores> scores_;  ///< the newest
  double wall_ = 0;
  std::uint32_t seen_ = 0;
};

}  // namespace ebb::cli
