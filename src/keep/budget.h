// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "keep/cleanup_cost.h"

namespace ebb::keep {

/// Decides whether a cleanup pays, from what earlier ones returned and cost: at most a share of
/// the job's time, nothing for small change, longer pauses while cleanups return little. A first
/// cleanup is always worth it: nothing tells the floor but one. Not thread-safe.
class CleanupBudget {
 public:
  /// Cleanups take at most this share of the time since the start.
  static constexpr double kShareOfTime = 0.01;
  /// Below either of these a cleanup is not worth its walk over the heap.
  static constexpr std::uint64_t kSmallestReturn = 32ULL << 20;
  static constexpr double kSmallestShare = 0.05;
  /// The longest pause, in opportunities, after cleanups that returned little.
  static constexpr unsigned kLongestPause = 64;

  explicit CleanupBudget(std::int64_t start_ns) : start_ns_(start_ns) {}

  /// Whether to clean now, given RSS. Counts as an opportunity either way.
  bool allows(std::int64_t now_ns, std::uint64_t rss);

  /// What the cleanup that allows() let through, or any other one, gave and took.
  void spent(std::uint64_t rss_after, std::uint64_t returned, double seconds);

 private:
  std::int64_t start_ns_;
  CleanupCost cost_;
  std::optional<std::uint64_t> floor_;  // RSS after the last cleanup
  unsigned pause_ = 0;                  // opportunities to let pass after a poor one
  unsigned waited_ = 0;
};

}  // namespace ebb::keep
