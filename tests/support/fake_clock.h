// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.h"

namespace ebb::support {

/// Time that moves only when the test moves it.
class FakeClock final : public base::Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  void advance_seconds(double seconds) { now_ns_ += static_cast<std::int64_t>(seconds * 1e9); }

 private:
  std::atomic<std::int64_t> now_ns_{1'000'000'000};
};

}  // namespace ebb::support
