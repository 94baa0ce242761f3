// SPDX-License-Identifier: Apache-2.0
#include "sites/time_budget.h"

namespace ebb::sites {
namespace {

constexpr std::uint64_t kMostOfTime = 200, kLittleOfTime = 1000;
constexpr std::uint64_t kWindowNs = 100'000'000;
// Until a process that took no sample is taken for one that allocates little.
constexpr std::uint64_t kQuietNs = 1'000'000'000;
constexpr std::uint64_t kLeastCostNs = 20'000;  // of a sample, where none was taken
constexpr std::uint64_t kWidest = 14;

}  // namespace

void TimeBudget::begin(std::uint64_t now_ns) {
  since_ns_.store(now_ns, std::memory_order_relaxed);
  spent_ns_.store(0, std::memory_order_relaxed);
}

void TimeBudget::keep(std::uint64_t now_ns, std::uint64_t spent_ns,
                      std::atomic<std::uint64_t>& shift) {
  std::uint64_t spent = spent_ns_.fetch_add(spent_ns, std::memory_order_relaxed) + spent_ns;
  std::uint64_t since = since_ns_.load(std::memory_order_relaxed);
  const std::uint64_t window = now_ns > since ? now_ns - since : 0;
  const bool is_used_up = spent > (window > kWindowNs ? window : kWindowNs) / kMostOfTime;
  if (!is_used_up && window < (spent > 0 ? kWindowNs : kQuietNs)) return;
  if (!since_ns_.compare_exchange_strong(since, now_ns, std::memory_order_relaxed)) return;
  spent_ns_.store(0, std::memory_order_relaxed);
  std::uint64_t now = shift.load(std::memory_order_relaxed);
  if (is_used_up) {
    if (now < kWidest) shift.store(now + 1, std::memory_order_relaxed);
    return;
  }
  if (spent < kLeastCostNs) spent = kLeastCostNs;
  for (; now > 0 && spent < window / kLittleOfTime; spent *= 2)
    --now;
  shift.store(now, std::memory_order_relaxed);
}

}  // namespace ebb::sites
