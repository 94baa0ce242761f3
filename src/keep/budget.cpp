// SPDX-License-Identifier: Apache-2.0
#include "keep/budget.h"

#include <algorithm>

#include "base/clock.h"

namespace ebb::keep {

bool CleanupBudget::allows(std::int64_t now_ns, std::uint64_t rss) {
  if (!floor_) return rss >= kSmallestReturn;
  const std::uint64_t expected = rss - std::min(rss, *floor_);
  if (expected < kSmallestReturn) return false;
  if (static_cast<double>(expected) < kSmallestShare * static_cast<double>(rss)) return false;
  if (waited_ < pause_) {
    ++waited_;
    return false;
  }
  const double elapsed = base::seconds_between(start_ns_, now_ns);
  return cost_.spent() + cost_.expected(expected) <= kShareOfTime * elapsed;
}

void CleanupBudget::spent(std::uint64_t rss_after, std::uint64_t returned, double seconds) {
  cost_.learn(returned, seconds);
  // A cleanup that got less than a tenth of what it hoped for was in vain: what grew is live.
  const std::uint64_t hoped =
      rss_after + returned - std::min(rss_after + returned, floor_.value_or(0));
  const bool in_vain = returned < kSmallestReturn || returned < hoped / 10;
  pause_ = in_vain ? std::min(kLongestPause, std::max(1U, pause_ * 2)) : 0;
  waited_ = 0;
  floor_ = rss_after;
}

}  // namespace ebb::keep
