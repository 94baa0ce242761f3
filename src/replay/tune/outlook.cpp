// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/outlook.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "replay/lifetimes.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

/// Futures to choose by, and as many again to check the choice with.
constexpr std::uint64_t kFutures = 8;
/// Operations of all futures of a job: a longer recording has fewer of them.
constexpr std::uint64_t kBudget = 12'000'000;
/// Operations of one future.
constexpr std::uint64_t kMostOperations = 8'000'000;

constexpr const char* kSteadiest = "expandable_segments:True";

/// Peaks that are the same.
constexpr double kSamePeak = 0.999;

/// Most bytes that were live at once, by step.
std::vector<std::uint64_t> live_peaks(const Workload& job, const Steps& steps) {
  std::vector<std::uint64_t> peaks;
  std::vector<std::uint64_t> held(job.blocks);
  std::uint64_t live = 0;
  for (std::size_t s = 0; s < steps.count(); ++s) {
    std::uint64_t peak = live;
    for (std::uint32_t at = steps.begins[s]; at < steps.end_of(s); ++at) {
      const Operation& op = job.operations[at];
      if (op.kind == Operation::Kind::allocate) {
        live += held[op.block] = op.bytes;
        peak = std::max(peak, live);
      } else if (op.kind == Operation::Kind::free || op.kind == Operation::Kind::free_later) {
        live -= std::exchange(held[op.block], 0);
      }
    }
    peaks.push_back(peak);
  }
  return peaks;
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
    if (stands_still(replay(future.work, setup).steps)) break;
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

std::size_t Outlook::fewest_peaks() const {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const Steps& steps = makers_[job].steps();
    const std::vector<std::uint64_t> peaks = live_peaks(*jobs_[job], steps);
    const auto most = static_cast<double>(*std::max_element(peaks.begin(), peaks.end()));
    const auto times = std::count_if(
        peaks.begin() + static_cast<std::ptrdiff_t>(steps.steady), peaks.end(),
        [&](std::uint64_t peak) { return static_cast<double>(peak) >= kSamePeak * most; });
    fewest = std::min(fewest, static_cast<std::size_t>(times));
  }
  return fewest;
}

Future Outlook::future_of(const Scenario& which) const {
  const FutureMaker& maker = makers_[which.job];
  const std::uint64_t horizon = horizons_[which.job];
  return which.stretched ? maker.stretch(which.number, horizon) : maker.make(which.number, horizon);
}

std::vector<std::optional<Prospect>> Outlook::try_all(const Scenario& which,
                                                      const std::vector<std::string>& confs) const {
  const Workload& recorded = *jobs_[which.job];
  const Future future = which.recorded ? Future() : future_of(which);
  const Workload& work = which.recorded ? recorded : future.work;
  // Time in driver calls of as much work as was recorded.
  const double scale = static_cast<double>(recorded.operations.size()) /
                       static_cast<double>(std::max<std::size_t>(work.operations.size(), 1));
  std::vector<std::optional<Prospect>> prospects(confs.size());
  for_all(confs.size(), [&](std::size_t i) {
    const auto settings = cache::parse_settings(confs[i], profile_);
    if (!settings) return;
    Setup setup = setup_for(which.job, *settings);
    const Outcome outcome = replay(work, setup);
    const double seconds = outcome.calls.seconds * scale;
    const double share = recorded.recording.seconds > 0 ? seconds / recorded.recording.seconds : 0;
    prospects[i] =
        Prospect{outcome.peak_reserved, cost_of(objective_, outcome.peak_reserved, seconds, share),
                 outcome.oom.has_value()};
  });
  return prospects;
}

Outcome Outlook::run(const Scenario& which, const std::string& conf, std::uint64_t limit) const {
  const Future future = future_of(which);
  Setup setup = setup_for(which.job, *cache::parse_settings(conf, profile_));
  setup.limit = limit;
  setup.step_ends = &future.ends;
  return replay(future.work, setup);
}

std::uint64_t Outlook::most_live(std::size_t job) const {
  std::uint64_t most = 0;
  for (const Scenario& which : scenarios_) {
    if (which.job == job) most = std::max(most, lower_bound_of(future_of(which).work).live);
  }
  return most;
}

std::vector<std::optional<Foresight>> Outlook::foresee(
    std::size_t job, const std::vector<std::string>& confs,
    const std::function<void(double share)>& between) const {
  std::vector<Setup> setups;
  std::vector<std::size_t> accepted;
  for (std::size_t i = 0; i < confs.size(); ++i) {
    // A later job may come of a newer release than the first one.
    const auto settings = cache::parse_settings(confs[i], profile_);
    if (!settings) continue;
    setups.push_back(setup_for(job, *settings));
    accepted.push_back(i);
  }
  std::vector<Foresight> found =
      replay::foresee(makers_[job], jobs_[job]->operations.size(), setups, between);
  std::vector<std::optional<Foresight>> foresights(confs.size());
  for (std::size_t a = 0; a < accepted.size(); ++a) {
    foresights[accepted[a]] = std::move(found[a]);
  }
  return foresights;
}

bool Outlook::grows_without_limit(std::size_t job, const std::string& conf,
                                  const std::function<void(double share)>& between) const {
  Setup setup = setup_for(job, *cache::parse_settings(conf, profile_));
  // Garbage is collected by the limit: without one, never.
  setup.settings.garbage_collection_threshold = 0;
  const std::vector<Foresight> open =
      replay::foresee(makers_[job], jobs_[job]->operations.size(), {setup}, between);
  const std::optional<Growth>& growth = open.front().rule().growth;
  return growth && !growth->stops_after_steps;
}

}  // namespace ebb::replay
