// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/leak.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "trace/steps.h"

namespace ebb::replay {
namespace {

/// Steps that are left out: the first ones create caches, optimizer state and graphs, and what the
/// last ones allocate might still have been freed in the next.
constexpr std::size_t kWarmUp = 2;
constexpr std::size_t kUnfinished = 2;
constexpr std::size_t kLeastSteps = 6;
/// Growth below this share of what is live, and below this many bytes, is noise.
constexpr double kLeastShare = 0.01;
constexpr std::uint64_t kLeastGrowth = base::kMiB;

using Amounts = std::vector<std::uint64_t>;

/// The first operation of every step; an operation belongs to the event it was read from.
std::vector<std::uint32_t> operations_at(const Workload& work,
                                         const std::vector<std::size_t>& events) {
  std::vector<std::uint32_t> found;
  auto op = static_cast<std::uint32_t>(work.initial_blocks);
  for (const std::size_t event : events) {
    while (op < work.operations.size() && work.operations[op].event < event) {
      ++op;
    }
    found.push_back(op);
  }
  return found;
}

/// How many of the moments are not after this operation.
std::size_t moments_until(const std::vector<std::uint32_t>& moments, std::uint32_t operation) {
  const auto after = std::upper_bound(moments.begin(), moments.end(), operation);
  return static_cast<std::size_t>(after - moments.begin());
}

Amounts live_before(const std::vector<Lifetime>& lives, const std::vector<std::uint32_t>& moments) {
  Amounts change(moments.size() + 1, 0);
  for (const Lifetime& life : lives) {
    if (life.failed) continue;
    change[moments_until(moments, life.first)] += life.bytes;
    change[moments_until(moments, life.released)] -= life.bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

/// The last failed request, after which a job frees everything; else the end of the history.
std::uint32_t last_operation(const Workload& work) {
  for (std::size_t i = work.operations.size(); i-- > 0;) {
    if (work.operations[i].kind == Operation::Kind::failed) return static_cast<std::uint32_t>(i);
  }
  return static_cast<std::uint32_t>(work.operations.size());
}

/// Whether the job never frees a block that one of its steps allocates; which step, if so.
std::optional<std::size_t> keeping_step(const Lifetime& life, std::uint32_t end,
                                        const std::vector<std::uint32_t>& moments) {
  const bool in_a_step = life.first >= moments.front() && life.first < end;
  if (life.failed || life.released < end || !in_a_step) return std::nullopt;
  return moments_until(moments, life.first) - 1;
}

std::uint64_t median(Amounts values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Something in nearly every step, and about as much in the later ones as in the earlier ones.
bool is_steady(const Amounts& growth) {
  const auto steps = static_cast<std::size_t>(
      std::count_if(growth.begin(), growth.end(), [](std::uint64_t bytes) { return bytes > 0; }));
  if (growth.size() < 2 || steps * 10 < growth.size() * 8) return false;
  const auto middle = growth.begin() + static_cast<std::ptrdiff_t>(growth.size() / 2);
  const std::uint64_t earlier = median(Amounts(growth.begin(), middle));
  const std::uint64_t later = median(Amounts(middle, growth.end()));
  return later <= 2 * earlier && earlier <= 2 * later;
}

bool is_much(std::uint64_t growth, std::uint64_t live) {
  return growth >= kLeastGrowth &&
         static_cast<double>(growth) >= kLeastShare * static_cast<double>(live);
}

std::uint64_t sum(const Amounts& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

std::optional<Leak> find_leak(const trace::Snapshot& snapshot, int device,
                              const Workload& workload) {
  Leak leak;
  leak.events = trace::find_steps(snapshot, static_cast<std::size_t>(device)).begins;
  const std::size_t steps = leak.events.size();
  if (steps < kLeastSteps) return std::nullopt;
  const std::vector<std::uint32_t> moments = operations_at(workload, leak.events);
  const std::vector<Lifetime> lives = lifetimes_of(workload);
  const std::uint32_t end = last_operation(workload);
  leak.live = live_before(lives, moments);
  leak.kept.assign(steps, 0);
  for (const Lifetime& life : lives) {
    if (const auto step = keeping_step(life, end, moments)) leak.kept[*step] += life.bytes;
  }

  const std::uint64_t first = leak.live[kWarmUp];
  const std::uint64_t last = leak.live.back();
  const std::uint64_t in_the_end = live_before(lives, {end}).front();
  const Amounts kept(leak.kept.begin() + kWarmUp, leak.kept.end() - kUnfinished);
  Amounts rises;
  std::uint64_t falls = 0;
  for (std::size_t i = kWarmUp + 1; i < steps; ++i) {
    const bool fell = leak.live[i] < leak.live[i - 1];
    rises.push_back(fell ? 0 : leak.live[i] - leak.live[i - 1]);
    if (fell) falls += leak.live[i - 1] - leak.live[i];
  }
  leak.by_kept = is_steady(kept) && is_much(sum(kept), first) && last > first;
  const bool rose = is_steady(rises) && last > first && is_much(last - first, first) &&
                    falls <= sum(rises) / 4 && in_the_end >= first + (last - first) / 2;
  if (!leak.by_kept && !rose) return std::nullopt;
  leak.per_step = leak.by_kept ? sum(kept) / kept.size() : (last - first) / rises.size();
  for (const Lifetime& life : lives) {
    const auto step = keeping_step(life, end, moments);
    const bool is_kept = step && *step >= kWarmUp && *step + kUnfinished < steps;
    // Blocks that grow are freed and allocated anew.
    const bool is_there = !life.failed && life.first >= moments[kWarmUp] &&
                          life.first < moments.back() && life.released >= moments.back();
    if (leak.by_kept ? is_kept : is_there) leak.blocks.push_back(life);
  }
  return leak;
}

}  // namespace ebb::replay
