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

Collector::Answer Collector::collect(std::uint32_t wanted, double seconds) {
  const std::int64_t start = base::system_clock().now_ns();
  base::Lock lock(mutex_);
  if (!present_ || closed_) return Answer::nobody;
  wanted_ |= wanted;
  const std::uint64_t mine = ++asked_;
  changed_.notify_all();
  while (answered_ < mine) {
    const double left = seconds - base::seconds_between(start, base::system_clock().now_ns());
    if (closed_) return Answer::nobody;
    if (left <= 0) return Answer::late;
    changed_.wait_for(mutex_, left);
  }
  return Answer::collected;
}

void Collector::close() {
  base::Lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Collector::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* collector = static_cast<Collector*>(self);
  collector->present_ = false;
  collector->closed_ = false;
  collector->wanted_ = 0;
  collector->answered_ = collector->asked_;
  collector->changed_.renew();
}

}  // namespace ebb::agent
