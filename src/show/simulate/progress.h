// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fl/simulation.h"
#include "term/progress.h"

namespace ebb::show {

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

}  // namespace ebb::show
