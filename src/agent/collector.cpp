// SPDX-License-Identifier: Apache-2.0
#include "agent/collector.h"

#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"

namespace ebb::agent {
namespace {

constexpr std::size_t kMostChanges = 64;

}  // namespace

std::uint32_t Collector::await() {
  base::Lock lock(mutex_);
  if (!std::exchange(present_, true)) base::count_own_thread(1);
  while (wanted_ == 0 && !closed_)
    moved_.wait(mutex_);
  if (closed_) {
    present_ = false;
    base::count_own_thread(-1);
    return 0;
  }
  return std::exchange(wanted_, 0);
}

void Collector::collected() {
  base::Lock lock(mutex_);
  answered_ = asked_;
  moved_.notify_all();
}

void Collector::changed(const base::DeviceChange& change) {
  base::Lock lock(mutex_);
  // Of a language that is never asked again.
  if (changes_.size() < kMostChanges) changes_.push_back(change);
}

std::vector<base::DeviceChange> Collector::take_changes() {
  base::Lock lock(mutex_);
  return std::exchange(changes_, {});
}

void Collector::saw(const fact::CardSample& card) {
  base::Lock lock(mutex_);
  if (cards_.size() < kMostChanges) cards_.insert_or_assign(card.index, card.memory);
}

std::vector<fact::CardSample> Collector::take_cards() {
  base::Lock lock(mutex_);
  std::vector<fact::CardSample> cards;
  for (const auto& [index, memory] : std::exchange(cards_, {}))
    cards.push_back({index, memory});
  return cards;
}

Collector::Answer Collector::collect(std::uint32_t wanted, double seconds) {
  const std::int64_t start = base::system_clock().now_ns();
  base::Lock lock(mutex_);
  if (!present_ || closed_) return Answer::nobody;
  wanted_ |= wanted;
  const std::uint64_t mine = ++asked_;
  moved_.notify_all();
  while (answered_ < mine) {
    const double left = seconds - base::seconds_between(start, base::system_clock().now_ns());
    if (closed_) return Answer::nobody;
    if (left <= 0) return Answer::late;
    moved_.wait_for(mutex_, left);
  }
  return Answer::collected;
}

void Collector::close() {
  base::Lock lock(mutex_);
  closed_ = true;
  moved_.notify_all();
}

void Collector::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* collector = static_cast<Collector*>(self);
  collector->present_ = false;
  collector->closed_ = false;
  collector->wanted_ = 0;
  collector->changes_.clear();
  collector->cards_.clear();
  collector->answered_ = collector->asked_;
  collector->moved_.renew();
}

}  // namespace ebb::agent
