// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup_cost.h"

#include <algorithm>

namespace ebb::keep {

void CleanupCost::learn(std::uint64_t returned, double seconds) {
  spent_ += seconds;
  last_ = seconds;
  if (returned < kSmallestLesson) return;
  seconds_per_byte_ = (seconds_per_byte_ + seconds / static_cast<double>(returned)) / 2;
}

double CleanupCost::expected(std::uint64_t bytes) const {
  const double by_size = seconds_per_byte_ * static_cast<double>(bytes);
  return last_ ? std::min(by_size, *last_) : by_size;
}

}  // namespace ebb::keep
