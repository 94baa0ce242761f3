// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::replay {

/// How good advice is once a job goes on: a generated job is tuned on what was recorded of it, and
/// the answer is replayed over all that it did. Peaks of what was reserved then.
struct Advice {
  std::string family;
  std::string conf;       ///< what was answered
  std::size_t steps = 0;  ///< recorded
  std::uint64_t live = 0;
  std::uint64_t by_default = 0;
  std::uint64_t expandable = 0;
  std::uint64_t baseline = 0;  ///< of the best of five well-known settings
  std::uint64_t followed = 0;  ///< of what was answered

  /// As a multiple of what plain expandable segments hold.
  double ratio() const { return static_cast<double>(followed) / static_cast<double>(expandable); }
};

/// Throws std::runtime_error where a setting is refused.
Advice advice_for(std::uint64_t seed);

/// Many of them, against plain expandable segments.
struct AdviceCounts {
  int jobs = 0;
  int worse_1 = 0;   ///< by more than 1 %
  int worse_5 = 0;   ///< by more than 5 %
  int better_2 = 0;  ///< by 2 % or more
  int could_2 = 0;   ///< where a baseline is better by 2 % or more
  double worst = 0;

  void add(const Advice& advice);
};

}  // namespace ebb::replay
