// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "fl/select/algebra.h"
#include "fl/select/all.h"
#include "fl/select/context.h"
#include "fl/select/perceptron.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kNeuralUcbKey = "ml.neural_linear_ucb";
constexpr int kPasses = 30;

class NeuralLinearUcb final : public Selector {
 public:
  NeuralLinearUcb(double alpha, double interval, double memory)
      : alpha_(alpha), interval_(whole(interval)), memory_(whole(memory)) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    if (!network_) network_.emplace(choice.random);
    const std::vector<double> targets = relative_rewards();
    if (untrained_rounds_ >= interval_ && !targets.empty()) {
      network_->train(contexts_, targets, kPasses, choice.random);
      untrained_rounds_ = 0;
    }

    LinearModel head(Perceptron::Features{}.size(), 1);
    for (std::size_t i = 0; i < targets.size(); ++i)
      head.add(network_->features(contexts_[i]), targets[i]);
    EBB_CHECK(head.fit());
    const std::vector<Context> contexts = contexts_of(choice);
    // Before the first reward the network's features mean nothing, and all are equal.
    std::vector<std::optional<double>> bounds(contexts.size());
    for (std::size_t i = 0; i < bounds.size() && !targets.empty(); ++i) {
      const auto [mean, deviation] = head.predict(network_->features(contexts[i]));
      bounds[i] = mean + alpha_ * deviation_with_own(deviation, choice.clients[i]);
    }
    Ids cohort = best_first(choice, bounds, choice.count);
    for (const std::uint32_t id : cohort)
      pending_.keep(id, contexts[id]);
    return cohort;
  }

  void learn(const Outcome& outcome) override {
    for (const std::uint32_t id : outcome.took_part) {
      const auto context = pending_.take(id);
      if (!context || !outcome.clients[id].loss) continue;
      contexts_.push_back(*context);
      rewards_.push_back(measured(*outcome.clients[id].loss));
    }
    if (rewards_.size() > memory_) {
      const auto excess = static_cast<std::ptrdiff_t>(rewards_.size() - memory_);
      contexts_.erase(contexts_.begin(), contexts_.begin() + excess);
      rewards_.erase(rewards_.begin(), rewards_.begin() + excess);
    }
    ++untrained_rounds_;
  }

  bool needs_labels() const override { return true; }

  base::Json state() const override {
    std::vector<double> contexts;
    for (const Context& context : contexts_)
      contexts.insert(contexts.end(), context.begin(), context.end());
    base::Json state = base::Json::object(
        {{"weights", to_json(network_ ? network_->weights() : std::vector<double>())},
         {"contexts", to_json(contexts)},
         {"rewards", to_json(rewards_)},
         {"untrained_rounds", std::uint64_t{untrained_rounds_}}});
    pending_.save(state);
    return state;
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kNeuralUcbKey);
    std::vector<double> weights = reader.numbers("weights");
    const std::vector<double> contexts = reader.numbers("contexts");
    std::vector<double> rewards = reader.numbers("rewards");
    const std::uint32_t untrained_rounds = reader.whole("untrained_rounds");
    PendingContexts pending = PendingContexts::read(reader);
    reader.require(weights.empty() || weights.size() == Perceptron::kWeights,
                   "weights are of another network");
    reader.require(
        contexts.size() == rewards.size() * Context{}.size() && rewards.size() <= memory_,
        "contexts and rewards do not go together");
    if (auto status = reader.finish(); !status) return status;
    network_.reset();
    if (!weights.empty()) network_.emplace(std::move(weights));
    contexts_.resize(rewards.size());
    for (std::size_t i = 0; i < contexts.size(); ++i)
      contexts_[i / Context{}.size()][i % Context{}.size()] = contexts[i];
    rewards_ = std::move(rewards);
    untrained_rounds_ = untrained_rounds;
    pending_ = std::move(pending);
    return {};
  }

 private:
  /// Losses relative to their mean, so that neither their level nor a cohort of equals decides how
  /// much is explored.
  std::vector<double> relative_rewards() const {
    std::vector<double> targets = rewards_;
    const double mean =
        std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
    for (double& target : targets)
      target = mean > 0 ? target / mean - 1 : 0;
    return targets;
  }

  double alpha_;
  std::uint32_t interval_;
  std::uint32_t memory_;
  std::optional<Perceptron> network_;
  std::vector<Context> contexts_;  ///< of the last rewards, as many
  std::vector<double> rewards_;
  std::uint32_t untrained_rounds_ = 0;
  PendingContexts pending_;
};

}  // namespace

Method neural_linear_ucb_method() {
  return {kNeuralUcbKey,
          "NeuralLinear-UCB",
          "Riquelme et al., ICLR 2018 (arXiv 1802.09127); bound as Xu et al., ICLR 2022 (arXiv "
          "2012.01780)",
          "LinUCB on the last layer of a small network that learns losses from contexts",
          {{"alpha", 0.5, 0, 1000, "deviations above the mean"},
           {"interval", 5, 1, 1e6, "rounds between two trainings of the network"},
           {"memory", 256, 1, 1e5, "last losses that it learns from"}},
          [](std::span<const double> values) {
            return std::make_unique<NeuralLinearUcb>(values[0], values[1], values[2]);
          }};
}

}  // namespace ebb::fl::select
