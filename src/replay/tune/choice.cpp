// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace ebb::replay {
namespace {

/// As many as go on to all futures.
constexpr std::size_t kFinalists = 8;
/// A gain that is worth another setting at all.
constexpr double kWorth = 0.002;

/// What is tried in a row of futures, and how it does there.
class Field {
 public:
  Field(const Outlook& outlook, std::vector<Knobs> knobs, std::size_t baselines)
      : outlook_(outlook), knobs_(std::move(knobs)), baselines_(baselines) {
    for (const Knobs& each : knobs_) {
      confs_.push_back(conf_of(each));
    }
    regrets_.resize(knobs_.size());
    failures_.resize(knobs_.size());
  }

  std::size_t size() const { return knobs_.size(); }
  const Knobs& knobs(std::size_t i) const { return knobs_[i]; }

  void run(const Scenario& which) {
    const auto prospects = outlook_.try_all(which, confs_);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < baselines_; ++i) {
      if (prospects[i] && !prospects[i]->out_of_memory) least = std::min(least, prospects[i]->cost);
    }
    if (!std::isfinite(least)) {
      for (const auto& prospect : prospects) {
        if (prospect) least = std::min(least, prospect->cost);
      }
    }
    for (std::size_t i = 0; i < size(); ++i) {
      if (!prospects[i] || prospects[i]->out_of_memory) ++failures_[i];
      const double cost = prospects[i] ? prospects[i]->cost : 0;
      // Driver calls may take no time at all: then all are as good.
      regrets_[i].push_back(least > 0 ? cost / least : 1);
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

  /// Whether `longer` does so much better than `simpler` that it is worth its settings.
  bool is_worth(std::size_t longer, std::size_t simpler) const {
    if (failures_[longer] != failures_[simpler]) return failures_[longer] < failures_[simpler];
    const double gain = regret(simpler) - regret(longer);
    const bool as_long = count_set(knobs_[longer]) == count_set(knobs_[simpler]);
    return gain > (as_long ? 0 : std::max(kWorth, spread(longer)));
  }

  std::size_t best() const {
    const std::vector<std::size_t> order = simplest_first();
    std::size_t best = order.front();
    for (const std::size_t i : order) {
      if (is_worth(i, best)) best = i;
    }
    return best;
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
  std::vector<std::string> confs_;
  std::vector<std::vector<double>> regrets_;
  std::vector<std::size_t> failures_;
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

Choice choose(const Outlook& outlook, const std::vector<Knobs>& baselines,
              const std::vector<Trial>& candidates,
              const std::function<void(double share)>& progress) {
  std::vector<Knobs> all = baselines;
  for (const Trial& trial : candidates) {
    if (std::find(baselines.begin(), baselines.end(), trial.knobs) == baselines.end())
      all.push_back(trial.knobs);
  }
  const std::vector<Scenario>& scenarios = outlook.scenarios();
  const std::vector<Scenario> heats = heats_of(outlook);
  const auto steps = static_cast<double>(heats.size() + scenarios.size());
  double done = 0;
  const auto tell = [&] {
    if (progress) progress(++done / steps);
  };
  Field first(outlook, all, baselines.size());
  for (const Scenario& which : heats) {
    first.run(which);
    tell();
  }
  std::vector<std::size_t> finalists(all.size() - baselines.size());
  std::iota(finalists.begin(), finalists.end(), baselines.size());
  std::stable_sort(finalists.begin(), finalists.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(first.failures(a), first.regret(a), count_set(first.knobs(a))) <
           std::make_tuple(first.failures(b), first.regret(b), count_set(first.knobs(b)));
  });
  finalists.resize(std::min(finalists.size(), kFinalists));
  std::vector<std::size_t> going_on(baselines.size());
  std::iota(going_on.begin(), going_on.end(), std::size_t{0});
  going_on.insert(going_on.end(), finalists.begin(), finalists.end());
  Field known = first.again(going_on);
  Field held_out = first.again(going_on);
  bool checked = false;
  for (const Scenario& which : scenarios) {
    (which.held_out ? held_out : known).run(which);
    checked |= which.held_out;
    tell();
  }
  std::size_t best = known.best();
  if (checked) {
    // The best baseline by the same futures stays, unless the other is better in new ones too.
    std::size_t plain = 0;
    for (const std::size_t i : known.simplest_first()) {
      if (i < baselines.size() && known.is_worth(i, plain)) plain = i;
    }
    if (best != plain && !held_out.is_worth(best, plain)) best = plain;
  }
  Choice choice;
  choice.knobs = known.knobs(best);
  choice.regret = known.regret(best);
  if (checked) choice.held_out_regret = held_out.regret(best);
  choice.tried = all.size();
  return choice;
}

}  // namespace ebb::replay
