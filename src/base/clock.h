// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::base {

/// A source of monotonic time; tests pass their own. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since an arbitrary start; never goes back.
  virtual std::int64_t now_ns() const = 0;
};

/// The kernel's CLOCK_MONOTONIC, shared and always valid.
const Clock& system_clock();

/// CPU time of the calling thread: what something cost, however busy the machine is.
const Clock& thread_cpu_clock();

/// Seconds since the epoch, as the machine's own clock has them: it may be set.
double unix_seconds();

/// Seconds between two readings of one clock.
constexpr double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

}  // namespace ebb::base
