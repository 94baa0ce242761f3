// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/leak.h"

#include <numeric>

#include "replay/doctor/step_growth.h"

namespace ebb::replay {
namespace {

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

}  // namespace

std::optional<Leak> find_leak(const trace::Snapshot& snapshot, int device,
                              const Workload& workload) {
  const JobSteps job = steps_of(snapshot, device, workload);
  if (!job.are_enough()) return std::nullopt;
  Leak leak;
  leak.events = job.events;
  const std::size_t steps = leak.events.size();
  const std::vector<std::uint32_t>& moments = job.operations;
  const std::vector<Lifetime> lives = lifetimes_of(workload);
  leak.live = live_before(lives, moments);
  leak.kept.assign(steps, 0);
  for (const Lifetime& life : lives) {
    if (const auto step = keeping_step(life, job.end, moments)) leak.kept[*step] += life.bytes;
  }

  const Amounts settled(leak.live.begin() + kWarmUpSteps, leak.live.end());
  const std::uint64_t first = settled.front();
  const std::uint64_t last = settled.back();
  const std::uint64_t in_the_end = live_before(lives, {job.end}).front();
  const Amounts kept(leak.kept.begin() + kWarmUpSteps, leak.kept.end() - kUnfinishedSteps);
  leak.by_kept = is_steady(kept) && is_much(sum_of(kept), first) && last > first;
  const auto rise = steady_rise(settled, first);
  const bool rose = rise && in_the_end >= first + (last - first) / 2;
  if (!leak.by_kept && !rose) return std::nullopt;
  leak.per_step = leak.by_kept ? sum_of(kept) / kept.size() : *rise;
  for (const Lifetime& life : lives) {
    const auto step = keeping_step(life, job.end, moments);
    const bool is_kept = step && *step >= kWarmUpSteps && *step + kUnfinishedSteps < steps;
    // Blocks that grow are freed and allocated anew.
    const bool is_there = !life.failed && life.first >= moments[kWarmUpSteps] &&
                          life.first < moments.back() && life.released >= moments.back();
    if (leak.by_kept ? is_kept : is_there) leak.blocks.push_back(life);
  }
  return leak;
}

}  // namespace ebb::replay
