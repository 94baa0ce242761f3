// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

/// As many as go on to all futures.
constexpr std::size_t kFinalists = 8;
/// What is chosen instead of the reference costs at most this multiple of it, wherever it was
/// tried; pages of another size, which can lose no more than a few of themselves, this one.
constexpr double kSafe = 0.99;
constexpr double kSafeForPages = 1.01;
/// A peak that was seen n times is passed later about once in n, and then pages of another size may
/// hold this much more than those of 20 MiB.
constexpr double kAtStake = 8.0 * base::kMiB;
/// What may so be lost on average, at the most, of what the job holds.
constexpr double kMostLoss = 0.02;
/// A gain that is worth another setting at all.
constexpr double kWorth = 0.01;
/// Steps that are enough to trust more than expandable segments to, where none differ and where
/// they do.
constexpr std::size_t kManySteps = 12;
constexpr std::size_t kManyDifferentSteps = 32;

/// What is tried in a row of futures, and how it does there.
class Field {
 public:
  Field(const Outlook& outlook, std::vector<Knobs> knobs, std::size_t baselines)
      : outlook_(outlook),
        knobs_(std::move(knobs)),
        baselines_(baselines),
        peaks_seen_(outlook.fewest_peaks()),
        regrets_(knobs_.size()),
        beside_reference_(knobs_.size()),
        stretched_(knobs_.size()),
        failures_(knobs_.size()) {
    for (const Knobs& each : knobs_) {
      confs_.push_back(conf_of(each));
    }
  }

  std::size_t size() const { return knobs_.size(); }
  const Knobs& knobs(std::size_t i) const { return knobs_[i]; }
  /// What others have to be better than: expandable segments where they may be used.
  std::size_t reference() const { return baselines_ > 1 ? 1 : 0; }

  void run(const Scenario& which) {
    const auto prospects = outlook_.try_all(which, confs_);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < baselines_; ++i) {
      if (prospects[i] && !prospects[i]->out_of_memory) least = std::min(least, prospects[i]->cost);
    }
    const auto& standard = prospects[this->reference()];
    const double reference = standard ? standard->cost : 0;
    if (standard) reference_peak_ = std::min(reference_peak_, standard->peak);
    for (std::size_t i = 0; i < size(); ++i) {
      if (!prospects[i] || prospects[i]->out_of_memory) {
        ++failures_[i];
        continue;
      }
      // Driver calls may take no time at all: then all are as good.
      const double cost = prospects[i]->cost;
      const bool comparable = std::isfinite(least) && least > 0;
      if (!which.recorded && !which.stretched) regrets_[i].push_back(comparable ? cost / least : 1);
      double& worst = which.stretched ? stretched_[i] : beside_reference_[i];
      worst = std::max(worst, reference > 0 ? cost / reference : 1);
    }
  }

  std::size_t failures(std::size_t i) const { return failures_[i]; }
  double regret(std::size_t i) const {
    return regrets_[i].empty() ? 1 : *std::max_element(regrets_[i].begin(), regrets_[i].end());
  }
  /// By how much its regret differs from future to future.
  double spread(std::size_t i) const {
    const std::vector<double>& all = regrets_[i];
    if (all.size() < 2) return 0;
    const double mean =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    double squares = 0;
    for (const double regret : all) {
      squares += (regret - mean) * (regret - mean);
    }
    return std::sqrt(squares / static_cast<double>(all.size() - 1));
  }

  /// From the simplest to the longest; of two as long, one whose keys PyTorch documents first.
  std::vector<std::size_t> simplest_first() const {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(count_set(knobs_[a]), knobs_[a].segment_mb != 0) <
             std::make_tuple(count_set(knobs_[b]), knobs_[b].segment_mb != 0);
    });
    return order;
  }

  /// Whether `i` is the reference with pages of another size.
  bool differs_in_pages(std::size_t i) const {
    Knobs knobs = knobs_[i];
    knobs.segment_mb = 0;
    return i < baselines_ && knobs.expandable && knobs == knobs_[reference()];
  }

  /// Whether `i` may stand in for the reference: it fails less often, or as often and is no worse.
  bool is_safe(std::size_t i) const {
    const std::size_t reference = this->reference();
    if (failures_[i] != failures_[reference]) return failures_[i] < failures_[reference];
    if (i == reference) return true;
    if (!knows_peak()) return false;
    if (knobs_[reference].expandable && !knobs_[i].expandable && !never_differs()) return false;
    if (differs_in_pages(i)) return beside_reference_[i] <= kSafeForPages;
    return beside_reference_[i] <= kSafe && stretched_[i] <= 1;
  }

  /// Whether `other` does so much better than `best` that it is worth its settings.
  bool is_worth(std::size_t other, std::size_t best) const {
    if (failures_[other] != failures_[best]) return failures_[other] < failures_[best];
    const double gain = regret(best) - regret(other);
    const int longer = count_set(knobs_[other]) - count_set(knobs_[best]);
    if (longer < 0) return gain >= 0;
    return gain > (longer == 0 ? 0 : std::max(kWorth, spread(other)));
  }

  std::size_t best() const {
    std::size_t best = reference();
    for (const std::size_t i : simplest_first()) {
      if (is_safe(i) && is_worth(i, best)) best = i;
    }
    return best;
  }

  /// Whether the peak that one setting suits better than another was seen often enough for how
  /// little the job holds. A job that was not cut into steps is taken as it is.
  bool knows_peak() const {
    const auto seen = static_cast<double>(peaks_seen_);
    return outlook_.fewest_steps() == 1 ||
           kAtStake <= kMostLoss * seen * static_cast<double>(reference_peak_);
  }

  /// Whether it is well known that what comes is what was: only then are plain segments trusted,
  /// which one step of another size can split for good.
  bool never_differs() const {
    const std::size_t steps = outlook_.fewest_steps();
    return !outlook_.varies() && (steps >= kManySteps || steps == 1);
  }

  /// The same competitors, to be tried anew.
  Field again(const std::vector<std::size_t>& which) const {
    std::vector<Knobs> knobs;
    for (const std::size_t i : which) {
      knobs.push_back(knobs_[i]);
    }
    return {outlook_, std::move(knobs), baselines_};
  }

 private:
  const Outlook& outlook_;
  std::vector<Knobs> knobs_;  ///< the baselines first
  std::size_t baselines_;
  std::size_t peaks_seen_;
  std::vector<std::string> confs_;
  std::vector<std::vector<double>> regrets_;
  std::vector<double> beside_reference_;  ///< the largest cost as a multiple of the reference's
  std::vector<double> stretched_;         ///< the same in trials with other sizes
  std::vector<std::size_t> failures_;
  std::uint64_t reference_peak_ = cache::kUnlimited;  ///< the smallest
};

/// One future of each job: the one after the repetition, where they differ.
std::vector<Scenario> heats_of(const Outlook& outlook) {
  std::vector<Scenario> heats;
  for (const Scenario& which : outlook.scenarios()) {
    if (which.held_out) continue;
    if (heats.empty() || heats.back().job != which.job) {
      heats.push_back(which);
    } else if (which.number == 1) {
      heats.back() = which;
    }
  }
  return heats;
}

}  // namespace

std::vector<Knobs> baselines_in(const SearchSpace& space, const cache::VersionProfile& profile) {
  constexpr std::uint32_t kSegments[] = {12, 16, 32};
  std::vector<Knobs> baselines(1);
  if (std::find(space.expandable.begin(), space.expandable.end(), true) == space.expandable.end())
    return baselines;
  Knobs knobs;
  knobs.expandable = true;
  baselines.push_back(knobs);
  for (const std::uint32_t mb : kSegments) {
    if (!profile.at_least(11) || space.segment_mb.size() < 2) break;
    knobs.segment_mb = mb;
    baselines.push_back(knobs);
  }
  return baselines;
}

bool trusts_longer_strings(const Outlook& outlook) {
  const std::size_t needed = outlook.varies() ? kManyDifferentSteps : kManySteps;
  return outlook.is_limited() || (outlook.repeats() && outlook.fewest_steps() >= needed);
}

Choice choose(const Outlook& outlook, const std::vector<Knobs>& baselines,
              const std::vector<Trial>& candidates,
              const std::function<void(double share)>& progress) {
  std::vector<Knobs> all = baselines;
  const bool enough = trusts_longer_strings(outlook);
  for (const Trial& trial : candidates) {
    if (enough && std::find(baselines.begin(), baselines.end(), trial.knobs) == baselines.end())
      all.push_back(trial.knobs);
  }
  const std::vector<Scenario>& scenarios = outlook.scenarios();
  const std::vector<Scenario> heats = heats_of(outlook);
  const auto parts = static_cast<double>(heats.size() + scenarios.size());
  double done = 0;
  const auto tell = [&] {
    if (progress) progress(++done / parts);
  };
  Field first(outlook, all, baselines.size());
  for (const Scenario& which : heats) {
    first.run(which);
    tell();
  }
  std::vector<std::size_t> finalists(all.size() - baselines.size());
  std::iota(finalists.begin(), finalists.end(), baselines.size());
  // Of those that do as well, what fits the recording best.
  std::stable_sort(finalists.begin(), finalists.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(first.failures(a), first.regret(a)) <
           std::make_tuple(first.failures(b), first.regret(b));
  });
  finalists.resize(std::min(finalists.size(), kFinalists));
  std::vector<std::size_t> going_on(baselines.size());
  std::iota(going_on.begin(), going_on.end(), std::size_t{0});
  going_on.insert(going_on.end(), finalists.begin(), finalists.end());
  Field known = first.again(going_on);
  Field held_out = first.again(going_on);
  bool checked = false;
  for (const Scenario& which : outlook.trials()) {
    known.run(which);
  }
  for (const Scenario& which : scenarios) {
    (which.held_out ? held_out : known).run(which);
    checked |= which.held_out;
    tell();
  }
  std::size_t best = known.best();
  const std::size_t reference = known.reference();
  const bool fails_less = known.failures(best) < known.failures(reference);
  const bool holds =
      fails_less ? held_out.failures(best) <= held_out.failures(reference) : held_out.is_safe(best);
  if (checked && !holds) best = reference;
  Choice choice;
  choice.knobs = known.knobs(best);
  choice.regret = known.regret(best);
  if (checked) choice.held_out_regret = held_out.regret(best);
  return choice;
}

}  // namespace ebb::replay
