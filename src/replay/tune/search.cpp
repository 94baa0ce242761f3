// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/search.h"

#include <algorithm>
#include <tuple>

#include "replay/parallel.h"

namespace ebb::replay {
namespace {

constexpr std::size_t kBatch = 32;
constexpr int kRefinements = 4;  // most jobs are settled after two

/// The best so far with one setting changed: other divisions for one size, values in between.
std::vector<Knobs> neighbours(const Knobs& from, const SearchSpace& space) {
  std::vector<Knobs> all;
  const auto add = [&](auto change) {
    Knobs knobs = from;
    change(knobs);
    if (knobs.split_mb == 0) knobs.non_split_mb = 0;
    if (!(knobs == from)) all.push_back(knobs);
  };
  for (const std::size_t bucket : space.buckets) {
    for (const std::uint8_t division : space.divisions) {
      add([&](Knobs& k) { k.divisions[bucket] = division; });
    }
  }
  // Even numbers: pages of expandable segments are multiples of 2 MiB.
  const auto around = [](std::uint32_t value) {
    std::vector<std::uint32_t> values;
    for (const std::uint32_t step : {value / 4, value / 16, 2U}) {
      values.push_back((value - std::min(value, step)) & ~1U);
      values.push_back((value + step) & ~1U);
    }
    return values;
  };
  if (from.split_mb != 0) {
    for (const std::uint32_t mb : around(from.split_mb)) {
      add([&](Knobs& k) { k.split_mb = mb; });
    }
  }
  if (space.segment_mb.size() > 1) {
    for (const std::uint32_t mb : around(from.segment_mb != 0 ? from.segment_mb : 20)) {
      add([&](Knobs& k) { k.segment_mb = mb; });
    }
  }
  for (const std::uint32_t mb : space.segment_mb) {
    add([&](Knobs& k) { k.segment_mb = mb; });
  }
  for (const std::uint32_t mb : space.split_mb) {
    add([&](Knobs& k) { k.split_mb = mb; });
  }
  for (const bool expandable : space.expandable) {
    add([&](Knobs& k) { k.expandable = expandable; });
  }
  for (const std::uint32_t percent : space.collect_percent) {
    add([&](Knobs& k) { k.collect_percent = percent; });
  }
  return all;
}

}  // namespace

bool operator<(const Score& a, const Score& b) {
  return std::tie(a.failures, a.primary, a.settings, a.secondary) <
         std::tie(b.failures, b.primary, b.settings, b.secondary);
}

Search::Search(const std::vector<const Workload*>& jobs, Options options)
    : jobs_(jobs),
      options_(std::move(options)),
      profile_(profile_for(*jobs[0], options_.circumstances)) {
  for (const Workload* job : jobs) {
    limits_.push_back(limit_for(*job, options_.circumstances));
    bounds_.push_back(lower_bound_of(*job));
  }
}

bool Search::is_limited() const {
  return std::any_of(limits_.begin(), limits_.end(),
                     [](std::uint64_t limit) { return limit != cache::kUnlimited; });
}

bool Search::is_proven() const {
  if (best_.empty() || best_.front().score.failures != 0) return false;
  const auto least = std::max_element(
      bounds_.begin(), bounds_.end(),
      [](const LowerBound& a, const LowerBound& b) { return a.in_units < b.in_units; });
  return best_.front().peak <= least->in_units;
}

void Search::run(const SearchSpace& space, bool refine) {
  try_all(space.combinations(), 0, refine ? 0.7 : 1);
  for (int round = 0; refine && round < kRefinements && !is_proven(); ++round) {
    const double share = 0.7 + 0.3 * round / kRefinements;
    const Knobs from = best_.front().knobs;
    if (!try_all(neighbours(from, space), share, share + 0.3 / kRefinements)) break;
  }
  if (options_.progress) options_.progress(1);
}

/// Tries all of them, and returns whether the best one changed.
bool Search::try_all(const std::vector<Knobs>& candidates, double share_before,
                     double share_after) {
  bool better = false;
  for (std::size_t start = 0; start < candidates.size(); start += kBatch) {
    std::vector<Trial> trials;
    for (std::size_t i = start; i < std::min(candidates.size(), start + kBatch); ++i) {
      if (seen_.insert(conf_of(candidates[i])).second)
        trials.push_back({candidates[i], {}, 0, false});
    }
    for_all(trials.size(), [&](std::size_t i) { replay_for(trials[i], abandon_above(trials[i])); });
    tried_ += trials.size();
    for (const Trial& trial : trials) {
      if (!trial.complete) continue;
      better |= best_.empty() || trial.score < best_.front().score;
      take(trial);
    }
    if (options_.progress) {
      const double done = static_cast<double>(std::min(candidates.size(), start + kBatch)) /
                          static_cast<double>(candidates.size());
      options_.progress(share_before + (share_after - share_before) * done);
    }
    if (options_.objective == Objective::memory && is_proven()) break;
  }
  return better;
}

void Search::take(const Trial& trial) {
  const auto worse = [](const Trial& a, const Trial& b) { return a.score < b.score; };
  best_.insert(std::upper_bound(best_.begin(), best_.end(), trial, worse), trial);
  if (best_.size() > options_.keep) best_.pop_back();
}

/// More than this cannot win against the last of those that are kept.
std::uint64_t Search::abandon_above(const Trial& trial) const {
  if (best_.size() < options_.keep || best_.back().score.failures != 0) return cache::kUnlimited;
  const Trial& last = best_.back();
  switch (options_.objective) {
    case Objective::memory:
      // With more settings it has to hold less.
      return last.peak - (count_set(trial.knobs) > last.score.settings ? 1 : 0);
    case Objective::balanced:
      return static_cast<std::uint64_t>(last.score.primary);
    case Objective::calls:
      break;
  }
  return cache::kUnlimited;
}

void Search::replay_for(Trial& trial, std::uint64_t abandon) const {
  const auto settings = settings_of(trial.knobs, profile_);
  if (!settings) return;  // a value that this release refuses
  double seconds = 0;
  double share = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Setup setup;
    setup.profile = profile_;
    setup.limit = limits_[i];
    setup.settings = *settings;
    setup.placement = options_.circumstances.placement;
    setup.abandon_above = abandon;
    const Outcome outcome = replay(*jobs_[i], setup);
    if (outcome.abandoned) return;
    trial.peak = std::max(trial.peak, outcome.peak_reserved);
    if (outcome.oom) ++trial.score.failures;
    seconds += outcome.calls.seconds;
    const double job_seconds = jobs_[i]->recording.seconds;
    if (job_seconds > 0) share = std::max(share, outcome.calls.seconds / job_seconds);
  }
  trial.score.primary = cost_of(options_.objective, trial.peak, seconds, share);
  trial.score.secondary =
      options_.objective == Objective::calls ? static_cast<double>(trial.peak) : seconds;
  trial.score.settings = count_set(trial.knobs);
  trial.complete = true;
}

}  // namespace ebb::replay
