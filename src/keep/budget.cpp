// SPDX-License-Identifier: Apache-2.0
#include "keep/budget.h"

#include <algorithm>

#include "base/clock.h"

namespace ebb::keep {

bool CleanupBudget::allows(std::int64_t now_ns, std::uint64_t rss, double seconds_per_byte) {
  if (!floor_) return rss >= kSmallestReturn;
  const std::uint64_t expected = rss - std::min(rss, *floor_);
  if (expected < kSmallestReturn) return false;
  if (static_cast<double>(expected) < kSmallestShare * static_cast<double>(rss)) return false;
  if (waited_ < pause_) {
    ++waited_;
    return false;
  }
  const double elapsed = base::seconds_between(start_ns_, now_ns);
  // Never more than the last one took: while garbage outgrows the budget a prediction by size
  // would recede for ever. What a cleanup takes beyond it is waited for afterwards.
  const double predicted =
      std::min(seconds_per_byte * static_cast<double>(expected), last_seconds_);
  return seconds_spent_ + predicted <= kShareOfTime * elapsed;
}

void CleanupBudget::spent(std::uint64_t rss_after, std::uint64_t returned, double seconds) {
  seconds_spent_ += seconds;
  last_seconds_ = seconds;
  // A cleanup that got less than a tenth of what it hoped for was in vain: what grew is live.
  const std::uint64_t hoped =
      rss_after + returned - std::min(rss_after + returned, floor_.value_or(0));
  const bool in_vain = returned < kSmallestReturn || returned < hoped / 10;
  pause_ = in_vain ? std::min(kLongestPause, std::max(1U, pause_ * 2)) : 0;
  waited_ = 0;
  floor_ = rss_after;
}

}  // namespace ebb::keep
