// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <ctime>

namespace ebb::base {
namespace {

class KernelClock final : public Clock {
 public:
  explicit KernelClock(clockid_t id) : id_(id) {}

  std::int64_t now_ns() const override {
    timespec now{};
    clock_gettime(id_, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

 private:
  clockid_t id_;
};

}  // namespace

const Clock& system_clock() {
  static const KernelClock clock(CLOCK_MONOTONIC);
  return clock;
}

const Clock& thread_cpu_clock() {
  static const KernelClock clock(CLOCK_THREAD_CPUTIME_ID);
  return clock;
}

}  // namespace ebb::base
