// SPDX-License-Identifier: Apache-2.0
#include "agent/collector.h"

#include <utility>

#include "base/clock.h"

namespace ebb::agent {

std::uint32_t Collector::await() {
  base::Lock lock(mutex_);
  present_ = true;
  while (wanted_ == 0 && !closed_)
    changed_.wait(mutex_);
  if (closed_) {
    present_ = false;
    return 0;
  }
  return std::exchange(wanted_, 0);
}

void Collector::collected() {
  base::Lock lock(mutex_);
  answered_ = asked_;
  changed_.notify_all();
}

bool Collector::collect(std::uint32_t wanted, double seconds) {
  const std::int64_t start = base::system_clock().now_ns();
  base::Lock lock(mutex_);
  if (!present_ || closed_) return false;
  wanted_ |= wanted;
  const std::uint64_t mine = ++asked_;
  changed_.notify_all();
  while (answered_ < mine) {
    const double left = seconds - base::seconds_between(start, base::system_clock().now_ns());
    if (left <= 0 || closed_) return false;
    changed_.wait_for(mutex_, left);
  }
  return true;
}

void Collector::close() {
  base::Lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Collector::after_fork_in_child() {
  present_ = false;
  closed_ = false;
  wanted_ = 0;
  answered_ = asked_;
  mutex_.unlock();
}

}  // namespace ebb::agent
