// SPDX-License-Identifier: Apache-2.0
#include "run/share_watch.h"

#include <algorithm>

#include "base/bytes.h"

namespace ebb::run {
namespace {

// What a process shared when it was forked is known: what matters is what becomes of it. Also, the
// rest of a pool is there by then.
constexpr double kFirstPause = 1;
// What readings after a fork may take in all before they have to wait as others do.
constexpr double kAllowance = 0.15;
constexpr double kLongestPause = 60;
constexpr std::uint64_t kMovement = base::kMiB;

}  // namespace

void ShareWatch::came(double seconds) {
  const double soon = seconds + kFirstPause;
  next_ = std::min(next_, spent_ < kAllowance ? soon : std::max(soon, allowed_));
}

void ShareWatch::measured(double seconds, std::optional<std::uint64_t> shared, double cost,
                          double pause) {
  spent_ += cost;
  allowed_ = seconds + pause;
  const std::uint64_t now = shared.value_or(0);
  const std::uint64_t before = shared_.value_or(0);
  const bool moves = std::max(now, before) - std::min(now, before) >= kMovement;
  shared_ = shared;
  if (now < kMovement) {
    patience_ = kLongestPause;  // what is not shared cannot become private
  } else if (moves) {
    patience_ = pause;
  } else {
    patience_ = 2 * std::max(patience_, pause);
  }
  patience_ = std::max(pause, std::min(patience_, kLongestPause));
  next_ = seconds + patience_;
}

}  // namespace ebb::run
