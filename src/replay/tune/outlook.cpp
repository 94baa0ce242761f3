// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/outlook.h"

#include <algorithm>
#include <limits>

#include "replay/lifetimes.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

/// A future is as long as four recordings, and longer where memory still rises then.
constexpr std::uint64_t kUsualLength = 4;
constexpr std::uint64_t kMostLength = 32;

/// Futures to choose by, and as many again to check the choice with.
constexpr std::uint64_t kFutures = 8;
/// Operations of all futures of a job: a longer recording has fewer of them.
constexpr std::uint64_t kBudget = 12'000'000;
/// Operations of one future.
constexpr std::uint64_t kMostOperations = 8'000'000;

constexpr const char* kSteadiest = "expandable_segments:True";

/// The last step, counted from 1, that brought a new peak.
std::uint64_t last_rise(const std::vector<StepEnd>& steps) {
  std::uint64_t rise = 0;
  for (std::uint64_t step = 0; step < steps.size(); ++step) {
    const std::uint64_t before = step == 0 ? 0 : steps[step - 1].peak_reserved;
    if (steps[step].peak_reserved > before) rise = step + 1;
  }
  return rise;
}

/// Bytes a step over the later half of them.
double slope_of(const std::vector<StepEnd>& steps, std::uint64_t StepEnd::*what) {
  const std::size_t half = steps.size() / 2;
  if (half + 1 >= steps.size()) return 0;
  const auto rise =
      static_cast<double>(steps.back().*what) - static_cast<double>(steps[half].*what);
  return rise / static_cast<double>(steps.size() - 1 - half);
}

}  // namespace

Outlook::Outlook(const std::vector<const Workload*>& jobs, Objective objective,
                 const Circumstances& circumstances)
    : jobs_(jobs),
      objective_(objective),
      circumstances_(circumstances),
      profile_(profile_for(*jobs[0], circumstances)) {
  for (const Workload* job : jobs) {
    makers_.emplace_back(*job);
  }
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    horizons_.push_back(horizon_of(job));
    steps_ahead_.push_back(makers_[job].make(0, horizons_[job]).ends.size() -
                           makers_[job].steps().steady);
    const std::uint64_t affordable = kBudget / std::max<std::uint64_t>(horizons_[job], 1);
    const std::uint64_t each =
        makers_[job].varies() ? std::clamp<std::uint64_t>(affordable / 2, 2, kFutures) : 1;
    for (std::uint64_t number = 0; number < each; ++number) {
      scenarios_.push_back({job, number, makers_[job].source_of(number), false, false, false});
    }
    for (std::uint64_t number = each; makers_[job].varies() && number < 2 * each; ++number) {
      scenarios_.push_back({job, number, makers_[job].source_of(number), true, false, false});
    }
  }
}

bool Outlook::repeats() const {
  return std::all_of(makers_.begin(), makers_.end(),
                     [](const FutureMaker& maker) { return maker.steps().repeats; });
}

Setup Outlook::setup_for(std::size_t job, const cache::Settings& settings) const {
  Setup setup;
  setup.profile = profile_;
  setup.settings = settings;
  setup.limit = limit_for(*jobs_[job], circumstances_);
  setup.placement = circumstances_.placement;
  return setup;
}

/// As far as it takes until the settings that waste least have had their peak for half of the way.
std::uint64_t Outlook::horizon_of(std::size_t job) const {
  const std::uint64_t recorded = std::max<std::size_t>(jobs_[job]->operations.size(), 1);
  const auto settings = cache::parse_settings(kSteadiest, profile_);
  std::uint64_t length = kUsualLength;
  for (; settings && length < kMostLength; length *= 2) {
    if (2 * length * recorded > kMostOperations) break;
    const Future future = makers_[job].make(makers_[job].varies() ? 1 : 0, length * recorded);
    Setup setup = setup_for(job, *settings);
    setup.limit = cache::kUnlimited;
    setup.step_ends = &future.ends;
    const std::vector<StepEnd> steps = replay(future.work, setup).steps;
    if (2 * last_rise(steps) <= steps.size()) break;
  }
  return length * recorded;
}

std::vector<Scenario> Outlook::trials() const {
  std::vector<Scenario> trials;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    trials.push_back({job, 0, Source::repeated, false, true, false});
    for (std::uint64_t number = 1; makers_[job].stretches() && number <= kFutures; ++number) {
      trials.push_back({job, number, makers_[job].source_of(number), false, false, true});
    }
  }
  return trials;
}

bool Outlook::is_limited() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Workload* job) {
    return limit_for(*job, circumstances_) != cache::kUnlimited;
  });
}

bool Outlook::varies() const {
  return std::any_of(makers_.begin(), makers_.end(),
                     [](const FutureMaker& maker) { return maker.varies(); });
}

std::size_t Outlook::fewest_steps() const {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const FutureMaker& maker : makers_) {
    fewest = std::min(fewest, maker.steps().count() - maker.steps().steady);
  }
  return fewest;
}

std::vector<std::optional<Prospect>> Outlook::try_all(const Scenario& which,
                                                      const std::vector<std::string>& confs) const {
  const Workload& recorded = *jobs_[which.job];
  const FutureMaker& maker = makers_[which.job];
  const std::uint64_t horizon = horizons_[which.job];
  const Future future = which.recorded    ? Future()
                        : which.stretched ? maker.stretch(which.number, horizon)
                                          : maker.make(which.number, horizon);
  const Workload& work = which.recorded ? recorded : future.work;
  const std::uint64_t live = lower_bound_of(work).live;
  // Time in driver calls of as much work as was recorded.
  const double scale = static_cast<double>(recorded.operations.size()) /
                       static_cast<double>(std::max<std::size_t>(work.operations.size(), 1));
  std::vector<std::optional<Prospect>> prospects(confs.size());
  for_all(confs.size(), [&](std::size_t i) {
    const auto settings = cache::parse_settings(confs[i], profile_);
    if (!settings) return;
    const Outcome outcome = replay(work, setup_for(which.job, *settings));
    const double seconds = outcome.calls.seconds * scale;
    const double share = recorded.recording.seconds > 0 ? seconds / recorded.recording.seconds : 0;
    prospects[i] = Prospect{outcome.peak_reserved, live,
                            cost_of(objective_, outcome.peak_reserved, seconds, share),
                            outcome.oom.has_value()};
  });
  return prospects;
}

Growth Outlook::growth_of(std::size_t job, const std::string& conf) const {
  Growth growth;
  const auto settings = cache::parse_settings(conf, profile_);
  if (!settings) return growth;
  const FutureMaker& maker = makers_[job];
  const std::uint64_t recorded = std::max<std::size_t>(jobs_[job]->operations.size(), 1);
  for (std::uint64_t length = kUsualLength; length <= kMostLength; length *= 2) {
    if (length > kUsualLength && length * recorded > kMostOperations) break;
    const Future future = maker.make(maker.varies() ? 1 : 0, length * recorded);
    Setup setup = setup_for(job, *settings);
    setup.limit = cache::kUnlimited;
    setup.step_ends = &future.ends;
    const std::vector<StepEnd> steps = replay(future.work, setup).steps;
    const std::uint64_t rise = last_rise(steps);
    // The first step is everything before the steps.
    growth.steps = steps.empty() ? 0 : steps.size() - 1;
    growth.bytes_per_step = slope_of(steps, &StepEnd::peak_reserved);
    growth.live_bytes_per_step = slope_of(steps, &StepEnd::allocated);
    if (2 * rise > steps.size()) continue;
    growth.stops_after_steps = rise == 0 ? 0 : rise - 1;
    break;
  }
  return growth;
}

}  // namespace ebb::replay
