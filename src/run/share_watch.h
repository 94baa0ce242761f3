// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace ebb::run {

/// When to read what the processes of a job share. The reading walks all their pages, so it is made
/// when it matters: soon after a process came that may have been forked, again and again while
/// shared pages become private, ever more seldom while nothing moves. It takes a bounded share of
/// the time, but for a first allowance. Seconds are since the run began. Not thread-safe.
class ShareWatch {
 public:
  /// A process came. Those of a pool come in a row: one reading is enough for all of them.
  void came(double seconds);

  double next() const { return next_; }
  bool is_due(double seconds) const { return seconds >= next_; }

  /// All were read; `shared` is what sharing saves, where the kernel tells. It took `cost` seconds
  /// of processor time; `pause` is how long such a reading lasts.
  void measured(double seconds, std::optional<std::uint64_t> shared, double cost, double pause);

  /// There is nobody to share with.
  void rest() { next_ = kNever; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  double next_ = kNever;
  double allowed_ = 0;  ///< not before that, once the allowance is spent
  double spent_ = 0;
  double patience_ = 0;
  std::optional<std::uint64_t> shared_;
};

}  // namespace ebb::run
