// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <ctime>

namespace ebb::base {
namespace {

class KernelClock final : public Clock {
 public:
  constexpr explicit KernelClock(clockid_t id) : id_(id) {}

  std::int64_t now_ns() const override {
    timespec now{};
    clock_gettime(id_, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

 private:
  clockid_t id_;
};

/// Constant from the start and never destroyed: threads of ours read the time until the very end.
union Forever {
  constexpr explicit Forever(clockid_t id) : clock(id) {}
  ~Forever() {}
  KernelClock clock;
};
constinit const Forever kMonotonic(CLOCK_MONOTONIC);
constinit const Forever kThreadCpu(CLOCK_THREAD_CPUTIME_ID);

}  // namespace

const Clock& system_clock() {
  return kMonotonic.clock;
}

const Clock& thread_cpu_clock() {
  return kThreadCpu.clock;
}

double unix_seconds() {
  return static_cast<double>(KernelClock(CLOCK_REALTIME).now_ns()) * 1e-9;
}

}  // namespace ebb::base
