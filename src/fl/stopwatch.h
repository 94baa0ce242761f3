// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace ebb::fl {

/// Adds the time that it lives to `seconds`, which outlives it.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), start_(base::system_clock().now_ns()) {}
  ~Stopwatch() { seconds_ += base::seconds_between(start_, base::system_clock().now_ns()); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const std::int64_t start_;
};

}  // namespace ebb::fl
