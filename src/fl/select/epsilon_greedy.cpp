// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fl/select/all.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kEpsilonGreedyKey = "ml.bandit.epsilon_greedy";

class EpsilonGreedy final : public Selector {
 public:
  EpsilonGreedy(double epsilon, double step) : epsilon_(epsilon), step_(step) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    if (auto status = same_clients(pulls_.size(), choice.clients.size()); !status)
      return status.error();
    std::vector<std::optional<double>> known(choice.clients.size());
    for (std::size_t i = 0; i < pulls_.size(); ++i)
      if (pulls_[i] > 0) known[i] = estimates_[i];

    Ids left = best_first(choice, known);
    Ids cohort;
    while (cohort.size() < choice.count) {
      const bool explores = choice.random.uniform() < epsilon_;
      const auto chosen = left.begin() + static_cast<std::ptrdiff_t>(
                                             explores ? choice.random.below(left.size()) : 0);
      cohort.push_back(*chosen);
      left.erase(chosen);
    }
    return cohort;
  }

  void learn(const Outcome& outcome) override {
    pulls_.resize(outcome.clients.size());
    estimates_.resize(outcome.clients.size());
    for (const std::uint32_t id : outcome.took_part) {
      if (!outcome.clients[id].loss) continue;
      ++pulls_[id];
      // Losses fall while the model learns: recent ones count more than a plain mean would let
      // them.
      const double step = std::max(step_, 1.0 / pulls_[id]);
      estimates_[id] += step * (measured(*outcome.clients[id].loss) - estimates_[id]);
    }
  }

  base::Json state() const override {
    return base::Json::object({{"pulls", to_json(pulls_)}, {"estimates", to_json(estimates_)}});
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kEpsilonGreedyKey);
    std::vector<std::uint32_t> pulls = reader.wholes("pulls");
    std::vector<double> estimates = reader.numbers("estimates");
    reader.require(pulls.size() == estimates.size(), "pulls and estimates differ in length");
    if (auto status = reader.finish(); !status) return status;
    pulls_ = std::move(pulls);
    estimates_ = std::move(estimates);
    return {};
  }

 private:
  double epsilon_;
  double step_;
  std::vector<std::uint32_t> pulls_;
  std::vector<double> estimates_;  ///< of the loss
};

}  // namespace

Method bandit_epsilon_greedy_method() {
  return {kEpsilonGreedyKey,
          "Epsilon-greedy",
          "Auer et al., Machine Learning 47, 2002; reward as in Cho et al., Asilomar 2020 (arXiv "
          "2012.08009)",
          "clients whose losses were highest so far, now and then anyone; never seen first",
          {{"epsilon", 0.1, 0, 1, "chance of each place in the cohort to go to anyone"},
           {"step", 0.3, 0, 1, "weight of the newest loss in an estimate, at least"}},
          [](std::span<const double> values) {
            return std::make_unique<EpsilonGreedy>(values[0], values[1]);
          }};
}

}  // namespace ebb::fl::select
