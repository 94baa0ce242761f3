// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fl/select/all.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kOortKey = "system_aware.oort";
constexpr double kClip = 0.95;    ///< share of clients whose utility is not clipped
constexpr double kCutOff = 0.95;  ///< of the lowest utility that would be taken: who may be drawn

double statistical_utility(const Client& client) {
  return client.samples * measured(client.loss_rms.value_or(client.loss.value_or(0)));
}

class Oort final : public Selector {
 public:
  explicit Oort(std::span<const double> values)
      : exploration_(values[0]),
        decay_(values[1]),
        least_exploration_(values[2]),
        penalty_(values[3]),
        pace_(values[4]),
        pace_step_(values[5]),
        window_(whole(values[6])) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto [seen, unseen, silent] = acquaintance(choice);
    const std::size_t explored =
        std::min<std::size_t>(unseen.size(), whole(exploration_ * choice.count));
    const std::size_t exploited = std::min(seen.size(), choice.count - explored);
    exploration_ = std::max(least_exploration_, exploration_ * decay_);

    Ids cohort;
    if (exploited > 0) cohort = exploit(choice, seen, exploited);
    std::vector<double> speeds;
    for (const std::uint32_t id : unseen)
      speeds.push_back(std::max(measured(choice.clients[id].speed), 0.0));
    const Ids fresh = drawn(unseen, speeds, choice.count - exploited, choice.random);
    cohort.insert(cohort.end(), fresh.begin(), fresh.end());
    const Ids last = some_of(silent, choice.count - cohort.size(), choice.random);
    cohort.insert(cohort.end(), last.begin(), last.end());
    return cohort;
  }

  void learn(const Outcome& outcome) override {
    double sum = 0;
    for (const std::uint32_t id : outcome.took_part)
      sum += statistical_utility(outcome.clients[id]);
    gained_.push_back(sum);
    if (gained_.size() < 2 * std::size_t{window_}) return;
    // The pacer: where a window gained less than the one before, slower clients are let in.
    const auto middle = gained_.begin() + window_;
    if (std::accumulate(gained_.begin(), middle, 0.0) > std::accumulate(middle, gained_.end(), 0.0))
      pace_ = std::min(1.0, pace_ + pace_step_);
    gained_.erase(gained_.begin(), middle);
  }

  base::Json state() const override {
    return base::Json::object(
        {{"exploration", exploration_}, {"pace", pace_}, {"gained", to_json(gained_)}});
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kOortKey);
    const double exploration = reader.number("exploration", 0, 1);
    const double pace = reader.number("pace", 0, 1);
    std::vector<double> gained = reader.numbers("gained");
    reader.require(gained.size() < 2 * std::size_t{window_}, "gained has too many rounds");
    if (auto status = reader.finish(); !status) return status;
    exploration_ = exploration;
    pace_ = pace;
    gained_ = std::move(gained);
    return {};
  }

 private:
  Ids exploit(const Choice& choice, const Ids& seen, std::size_t count) const {
    std::vector<double> seconds;
    for (const Client& client : choice.clients)
      seconds.push_back(measured(client.seconds));
    const double preferred = quantile(std::move(seconds), pace_);

    std::vector<double> utilities;
    for (const std::uint32_t id : seen)
      utilities.push_back(statistical_utility(choice.clients[id]));
    const double most = quantile(utilities, kClip);
    for (double& utility : utilities)
      utility = std::min(utility, most);
    normalise(utilities);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Client& client = choice.clients[seen[i]];
      const double last = client.last_round.value_or(0) + 1.0;
      utilities[i] += std::sqrt(0.1 * std::log(choice.round + 1.0) / last);
      if (const double own = measured(client.seconds); own > preferred && preferred > 0)
        utilities[i] *= std::pow(preferred / own, penalty_);
    }

    std::vector<double> sorted = utilities;
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(sorted.begin(), nth, sorted.end(), std::greater<>());
    Ids admitted;
    std::vector<double> weights;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (utilities[i] < kCutOff * *nth) continue;
      admitted.push_back(seen[i]);
      weights.push_back(utilities[i]);
    }
    return drawn(admitted, weights, count, choice.random);
  }

  double exploration_;
  double decay_;
  double least_exploration_;
  double penalty_;
  double pace_;  ///< the preferred duration, as a quantile of all clients' durations
  double pace_step_;
  std::uint32_t window_;
  std::vector<double> gained_;  ///< utility of each cohort, less than two windows of them
};

}  // namespace

Method oort_method() {
  return {kOortKey,
          "Oort",
          "Lai et al., OSDI 2021 (arXiv 2010.06081)",
          "much data of high loss, fast enough, long not seen; a part of each cohort is new",
          {{"exploration", 0.9, 0, 1, "part of the first cohort that is new"},
           {"decay", 0.98, 0, 1, "of that part, each round"},
           {"least_exploration", 0.2, 0, 1, "what it does not fall below"},
           {"penalty", 2, 0, 100, "power of preferred over own duration, for slow clients"},
           {"pace", 0.3, 0, 1, "share of clients fast enough to go without a penalty, at first"},
           {"pace_step", 0.05, 0, 1, "what is added to it when the cohorts' utility falls"},
           {"window", 20, 1, 1e6, "rounds between two looks at that"}},
          [](std::span<const double> values) { return std::make_unique<Oort>(values); }};
}

}  // namespace ebb::fl::select
