// SPDX-License-Identifier: Apache-2.0
#include "fl/select/algebra.h"
#include "fl/select/all.h"
#include "fl/select/context.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kLinucbKey = "ml.bandit.linucb";

class LinUcb final : public Selector {
 public:
  LinUcb(double alpha, double ridge) : alpha_(alpha), model_(Context{}.size(), ridge) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const std::vector<Context> contexts = contexts_of(choice);
    if (!model_.fit())
      return base::error(base::Code::internal,
                         "ml.bandit.linucb: what it has learned cannot be solved for");
    std::vector<std::optional<double>> bounds;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const auto [mean, deviation] = model_.predict(contexts[i]);
      bounds.push_back(mean + alpha_ * deviation_with_own(deviation, choice.clients[i]));
    }
    Ids cohort = best_first(choice, bounds, choice.count);
    for (const std::uint32_t id : cohort)
      pending_.keep(id, contexts[id]);
    return cohort;
  }

  void learn(const Outcome& outcome) override {
    for (const std::uint32_t id : outcome.took_part)
      if (const auto context = pending_.take(id); context && outcome.clients[id].loss)
        model_.add(*context, measured(*outcome.clients[id].loss));
  }

  bool needs_labels() const override { return true; }

  base::Json state() const override {
    base::Json state = base::Json::object(
        {{"precision", to_json(model_.precision())}, {"moments", to_json(model_.moments())}});
    pending_.save(state);
    return state;
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kLinucbKey);
    std::vector<double> precision = reader.numbers("precision");
    std::vector<double> moments = reader.numbers("moments");
    PendingContexts pending = PendingContexts::read(reader);
    const std::size_t size = Context{}.size();
    reader.require(moments.size() == size && precision.size() == size * size,
                   "precision and moments are of other contexts");
    if (auto status = reader.finish(); !status) return status;
    LinearModel model(std::move(precision), std::move(moments));
    reader.require(model.fit(), "precision is not positive definite");
    if (auto status = reader.finish(); !status) return status;
    model_ = std::move(model);
    pending_ = std::move(pending);
    return {};
  }

 private:
  double alpha_;
  LinearModel model_;
  PendingContexts pending_;
};

}  // namespace

Method bandit_linucb_method() {
  return {kLinucbKey,
          "LinUCB",
          "Li et al., WWW 2010 (arXiv 1003.0146); one model for all, as Chu et al., AISTATS 2011",
          "highest upper bound of the loss that a linear model expects from what is known",
          {{"alpha", 2.36, 0, 1000, "deviations above the mean; the paper's for 95 %"},
           {"ridge", 1, 0.01, 1e6, "precision of the weights before any loss is known"}},
          [](std::span<const double> values) {
            return std::make_unique<LinUcb>(values[0], values[1]);
          }};
}

}  // namespace ebb::fl::select
