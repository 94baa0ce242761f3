// SPDX-License-Identifier: Apache-2.0
#include "fl/relay.h"

#include <algorithm>
#include <utility>

namespace ebb::fl {

bool Relay::has_place() const {
  // The last thing that was taken is still in use.
  const std::size_t given_back = std::max<std::size_t>(taken_, 1) - 1;
  return made_ < given_back + places_;
}

std::optional<std::size_t> Relay::begin() {
  const base::Lock lock(mutex_);
  while (!stopped_ && made_ < count_ && !has_place())
    changed_.wait(mutex_);
  if (stopped_ || made_ == count_) return std::nullopt;
  return made_;
}

void Relay::done() {
  const base::Lock lock(mutex_);
  ++made_;
  changed_.notify_all();
}

void Relay::fail(std::exception_ptr why) {
  const base::Lock lock(mutex_);
  failure_ = std::move(why);
  changed_.notify_all();
}

std::size_t Relay::take() {
  const base::Lock lock(mutex_);
  ++taken_;
  changed_.notify_all();
  while (made_ < taken_ && failure_ == nullptr)
    changed_.wait(mutex_);
  if (made_ < taken_) std::rethrow_exception(failure_);
  return taken_ - 1;
}

void Relay::stop() {
  const base::Lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace ebb::fl
