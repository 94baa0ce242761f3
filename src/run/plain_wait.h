// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "run/launch.h"
#include "run/signals.h"

namespace ebb::run {

/// Whoever has not ended so many seconds after KILL hangs in the kernel, and nobody can do anything
/// about it.
inline constexpr double kLongestDying = 60;

/// Where supervision broke off.
struct PlainWait {
  pid_t command = 0;
  std::optional<Ending> ending;       ///< of the command, where it has ended before
  bool for_all = false;               ///< until nothing of the job is left (--wait-all)
  std::optional<double> kills_after;  ///< seconds: the job was told to end, and has so long
};

/// What is left of supervision where it cannot go on: waits until the command has ended, passes
/// signals on to it, then to what it has left, and reaps whatever ends before. A stop that was
/// under way comes to its end: what is there when the time is over is killed. Asks for no memory.
Ending wait_plainly(const PlainWait& wait, const Signals& signals) noexcept;

}  // namespace ebb::run
