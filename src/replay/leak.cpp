// SPDX-License-Identifier: Apache-2.0
#include "replay/leak.h"

#include <algorithm>

#include "base/bytes.h"
#include "trace/steps.h"

namespace ebb::replay {
namespace {

/// Steps that are left out: caches, optimizer state and graphs come to be in them.
constexpr std::size_t kWarmUp = 2;
constexpr std::size_t kLeastSteps = 4;
/// Growth below this share of what is live, and below this many bytes, is noise.
constexpr double kLeastShare = 0.01;
constexpr std::uint64_t kLeastBytes = base::kMiB;

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

std::vector<std::uint64_t> live_at_each(const std::vector<Lifetime>& lives,
                                        const std::vector<std::uint32_t>& moments) {
  std::vector<std::uint64_t> live(moments.size(), 0);
  for (const Lifetime& life : lives) {
    if (life.failed) continue;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      if (life.first < moments[i] && moments[i] <= life.released) live[i] += life.bytes;
    }
  }
  return live;
}

}  // namespace

std::optional<Leak> find_leak(const trace::Snapshot& snapshot, int device,
                              const Workload& workload) {
  const trace::Steps steps = trace::find_steps(snapshot, static_cast<std::size_t>(device));
  if (steps.begins.size() < kLeastSteps + kWarmUp) return std::nullopt;
  const std::vector<std::uint32_t> moments = operations_at(workload, steps.begins);
  const std::vector<Lifetime> lives = lifetimes_of(workload);
  Leak leak;
  leak.events = steps.begins;
  leak.live = live_at_each(lives, moments);
  const std::size_t count = leak.live.size() - kWarmUp;
  std::size_t rises = 0;
  for (std::size_t i = kWarmUp + 1; i < leak.live.size(); ++i) {
    if (leak.live[i] > leak.live[i - 1]) ++rises;
  }
  const std::uint64_t first = leak.live[kWarmUp];
  const std::uint64_t last = leak.live.back();
  if (rises * 10 < (count - 1) * 8 || last <= first) return std::nullopt;
  const std::uint64_t growth = last - first;
  if (growth < kLeastBytes ||
      static_cast<double>(growth) < kLeastShare * static_cast<double>(first)) {
    return std::nullopt;
  }
  leak.per_step = growth / (count - 1);
  // What a step allocates and the next but one still sees, up to the last two steps.
  const std::uint32_t from = moments[kWarmUp];
  const std::uint32_t until = moments[moments.size() - 2];
  for (const Lifetime& life : lives) {
    if (life.failed || life.first < from || life.first >= until) continue;
    const auto step = std::upper_bound(moments.begin(), moments.end(), life.first);
    const std::uint32_t two_later =
        moments.end() - step > 1 ? *(step + 1) : static_cast<std::uint32_t>(-1);
    if (life.released >= two_later) leak.blocks.push_back(life);
  }
  return leak;
}

}  // namespace ebb::replay
