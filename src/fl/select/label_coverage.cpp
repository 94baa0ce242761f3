// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

/// Samples of each class that a cohort of the population's own mixture would have.
std::vector<double> fair_share(const Choice& choice) {
  std::vector<double> share;
  for (const Client& client : choice.clients) {
    share.resize(std::max(share.size(), client.labels.size()));
    for (std::size_t label = 0; label < client.labels.size(); ++label)
      share[label] += client.labels[label];
  }
  for (double& samples : share)
    samples *= choice.count / static_cast<double>(choice.clients.size());
  return share;
}

class LabelCoverage final : public Selector {
 public:
  LabelCoverage(double loss_weight, double tolerance)
      : loss_weight_(loss_weight), tolerance_(tolerance) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const std::vector<double> losses = hopeful(choice.clients, &Client::loss);
    const std::vector<double> share = fair_share(choice);
    std::vector<double> missing = share;
    std::vector<bool> taken(choice.clients.size());
    // What one client can cover on average becomes 1, so that it compares with a loss.
    const double scale = choice.count / std::max(1.0, static_cast<double>(share.size()));
    Ids cohort;
    while (cohort.size() < choice.count) {
      std::optional<std::pair<double, std::uint32_t>> best;
      for (const std::uint32_t id : candidates(taken, choice.count, tolerance_, choice.random)) {
        const std::vector<std::uint32_t>& labels = choice.clients[id].labels;
        double covered = 0;
        for (std::size_t label = 0; label < labels.size(); ++label)
          if (share[label] > 0)
            covered += std::min<double>(labels[label], missing[label]) / share[label];
        const double score = (1 - loss_weight_) * covered * scale + loss_weight_ * losses[id];
        if (!best || score > best->first) best = {score, id};
      }
      const std::uint32_t chosen = best->second;
      cohort.push_back(chosen);
      taken[chosen] = true;
      for (std::size_t label = 0; label < choice.clients[chosen].labels.size(); ++label)
        missing[label] = std::max(0.0, missing[label] - choice.clients[chosen].labels[label]);
    }
    return cohort;
  }

  bool needs_labels() const override { return true; }

 private:
  double loss_weight_;
  double tolerance_;
};

}  // namespace

Method label_coverage_method() {
  return {"heuristic.label_coverage",
          "Label coverage",
          "by stochastic greedy: Mirzasoleiman et al., AAAI 2015 (arXiv 1409.7938)",
          "a cohort that together has the population's share of every class",
          {{"loss_weight", 0.2, 0, 1, "weight of the last loss against coverage"},
           {"tolerance", 0.1, 1e-6, 0.9, "how far a step may stay behind full greedy"}},
          [](std::span<const double> values) {
            return std::make_unique<LabelCoverage>(values[0], values[1]);
          },
          CandidatesDrawn::each_round};
}

}  // namespace ebb::fl::select
