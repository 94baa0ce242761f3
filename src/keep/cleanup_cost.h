// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ebb::keep {

/// What cleanups cost: seconds per byte that they return, learned from those that were run, and
/// the sum of all so far. Not thread-safe.
class CleanupCost {
 public:
  /// Seconds per byte before the first cleanup: the middle of what trimming a fragmented GiB takes
  /// (50 to 135 ms).
  static constexpr double kFirstGuess = 90e-3 / (1ULL << 30);
  /// A cleanup that returned less says little about the cost of a byte.
  static constexpr std::uint64_t kSmallestLesson = 16ULL << 20;

  /// A cleanup was run.
  void learn(std::uint64_t returned, double seconds);

  /// Seconds that a cleanup which returns `bytes` is expected to take. Never more than the last one
  /// took: while garbage outgrows a budget, a prediction by size would recede for ever. What a
  /// cleanup takes beyond it is waited for afterwards.
  double expected(std::uint64_t bytes) const;

  /// Seconds of all cleanups so far.
  double spent() const { return spent_; }

 private:
  double seconds_per_byte_ = kFirstGuess;
  double spent_ = 0;
  std::optional<double> last_;  ///< seconds of the last cleanup
};

}  // namespace ebb::keep
