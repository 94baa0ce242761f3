// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <ctime>

namespace ebb::base {
namespace {

class SystemClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace ebb::base
