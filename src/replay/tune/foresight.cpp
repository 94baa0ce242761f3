// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/foresight.h"

#include <algorithm>
#include <optional>

#include "replay/lifetimes.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

/// Operations of one future, unless the recording is longer.
constexpr std::uint64_t kLongestFuture = 4'000'000;
/// Operations of all futures of a setting: a longer recording has fewer of them, but never fewer
/// than the fewest.
constexpr std::uint64_t kAllFutures = 16'000'000;
constexpr std::uint64_t kFewestFutures = 4;
constexpr std::uint64_t kMostFutures = 16;
/// As many at a time: each takes memory, and nobody is asked in between.
constexpr std::uint64_t kAtATime = 4;

std::uint64_t count_of_futures(const FutureMaker& maker, std::uint64_t recorded) {
  if (!maker.varies()) return 1;
  return std::clamp(kAllFutures / operations_in(kMostLength, recorded), kFewestFutures,
                    kMostFutures);
}

Followed followed(const FutureMaker& maker, const Future& future, Outcome outcome) {
  Followed result;
  result.peak = outcome.peak_reserved;
  result.allocated = outcome.peak_allocated;
  result.live = lower_bound_of(future.work).live;
  result.out_of_memory = outcome.oom.has_value();
  if (!result.out_of_memory) result.growth = growth_in(outcome.steps);
  result.rises = std::move(outcome.rises);
  // The first is everything before the steps, unless all of the job is one piece.
  if (maker.steps().steady > 0 && !outcome.steps.empty())
    outcome.steps.erase(outcome.steps.begin());
  result.steps = std::move(outcome.steps);
  return result;
}

/// One future under all of the settings, each as far as it takes.
std::vector<Followed> follow(const FutureMaker& maker, std::uint64_t number, std::uint64_t recorded,
                             const std::vector<Setup>& setups) {
  std::vector<std::optional<Followed>> results(setups.size());
  for (std::uint64_t length = kUsualLength; length <= kMostLength; length *= 2) {
    const bool is_last = length == kMostLength || 2 * length * recorded > kLongestFuture;
    const Future future = maker.make(number, operations_in(length, recorded));
    for (std::size_t i = 0; i < setups.size(); ++i) {
      if (results[i]) continue;
      Setup setup = setups[i];
      setup.step_ends = &future.ends;
      Outcome outcome = replay(future.work, setup);
      // One that runs out of memory would do so at the same place if it were longer.
      if (is_last || outcome.oom || stands_still(outcome.steps))
        results[i] = followed(maker, future, std::move(outcome));
    }
    const auto is_done = [](const std::optional<Followed>& result) { return result.has_value(); };
    if (std::all_of(results.begin(), results.end(), is_done)) break;
  }
  std::vector<Followed> all;
  for (std::optional<Followed>& result : results) {
    all.push_back(std::move(*result));
  }
  return all;
}

}  // namespace

std::uint64_t operations_in(std::uint64_t length, std::uint64_t recorded) {
  return std::min(length * recorded, std::max(recorded, kLongestFuture));
}

Foresight::Foresight(std::vector<Followed> futures, std::uint64_t limit)
    : futures_(std::move(futures)), limit_(limit) {
  std::stable_sort(futures_.begin(), futures_.end(),
                   [](const Followed& a, const Followed& b) { return a.peak < b.peak; });
}

std::uint64_t Foresight::out_of_memory() const {
  return static_cast<std::uint64_t>(
      std::count_if(futures_.begin(), futures_.end(),
                    [](const Followed& future) { return future.out_of_memory; }));
}

std::optional<double> Foresight::over_live() const {
  std::optional<double> most;
  for (const Followed& future : futures_) {
    if (future.out_of_memory) continue;
    const double live = static_cast<double>(std::max<std::uint64_t>(future.live, 1));
    most =
        std::max(most.value_or(0), future.live == 0 ? 0 : static_cast<double>(future.peak) / live);
  }
  return most;
}

std::vector<FanStep> Foresight::fan() const {
  std::size_t steps = 0;
  for (const Followed& future : futures_) {
    steps = std::max(steps, future.steps.size());
  }
  std::vector<FanStep> fan(steps);
  std::vector<std::uint64_t> peaks;
  for (std::size_t s = 0; s < steps; ++s) {
    peaks.clear();
    for (const Followed& future : futures_) {
      if (future.steps.empty()) continue;
      const StepEnd& end = future.steps[std::min(s, future.steps.size() - 1)];
      peaks.push_back(end.peak_reserved);
      fan[s].live = std::max(fan[s].live, end.peak_allocated);
    }
    std::sort(peaks.begin(), peaks.end());
    fan[s].least = peaks.front();
    fan[s].median = peaks[(peaks.size() - 1) / 2];
    fan[s].worst = peaks.back();
  }
  return fan;
}

std::vector<Foresight> foresee(const FutureMaker& maker, std::uint64_t recorded_operations,
                               const std::vector<Setup>& setups,
                               const std::function<void(double share)>& between) {
  const std::uint64_t recorded = std::max<std::uint64_t>(recorded_operations, 1);
  std::vector<Setup> ahead = setups;
  for (Setup& setup : ahead) {
    if (setup.settings.garbage_collection_threshold == 0) setup.limit = cache::kUnlimited;
    setup.as_recorded = false;
    setup.keep_events = setup.keep_curve = setup.keep_segments = false;
    setup.keep_rises = true;
  }
  const std::uint64_t count = count_of_futures(maker, recorded);
  std::vector<std::vector<Followed>> by_future(count);
  const std::uint64_t at_a_time = recorded > kLongestFuture ? 1 : kAtATime;
  for (std::uint64_t from = 0; from < count; from += at_a_time) {
    if (between) between(static_cast<double>(from) / static_cast<double>(count));
    for_all(std::min(at_a_time, count - from),
            [&](std::size_t i) { by_future[from + i] = follow(maker, from + i, recorded, ahead); });
  }
  std::vector<Foresight> foresights;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    std::vector<Followed> futures;
    for (std::vector<Followed>& all : by_future) {
      futures.push_back(std::move(all[i]));
    }
    foresights.emplace_back(std::move(futures), ahead[i].limit);
  }
  return foresights;
}

}  // namespace ebb::replay
