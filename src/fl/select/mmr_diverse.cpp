// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fl/select/algebra.h"
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

std::vector<double> utilities_of(std::span<const Client> clients) {
  const std::vector<double> losses = hopeful(clients, &Client::loss);
  const std::vector<double> norms = hopeful(clients, &Client::gradient_norm);
  std::vector<double> speeds;
  std::vector<double> channels;
  for (const Client& client : clients) {
    speeds.push_back(measured(client.speed));
    channels.push_back(measured(client.channel));
  }
  normalise(speeds);
  normalise(channels);
  std::vector<double> utilities;
  for (std::size_t i = 0; i < clients.size(); ++i)
    utilities.push_back((0.4 * losses[i] + 0.3 * norms[i] + 0.15 * speeds[i] + 0.15 * channels[i]) /
                        (1.0 + clients[i].participations + clients[i].unanswered));
  normalise(utilities);
  return utilities;
}

class MmrDiverse final : public Selector {
 public:
  explicit MmrDiverse(double relevance) : relevance_(relevance) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const std::vector<double> utilities = utilities_of(choice.clients);
    std::vector<std::vector<double>> labels;
    for (const Client& client : choice.clients) {
      labels.emplace_back(client.labels.begin(), client.labels.end());
      make_unit(labels.back());
    }

    Ids left = ranked(utilities, choice.random);
    std::vector<double> similarity(left.size());
    Ids cohort;
    while (cohort.size() < choice.count) {
      const auto score = [&](std::uint32_t id) {
        return relevance_ * utilities[id] - (1 - relevance_) * similarity[id];
      };
      const auto best =
          std::max_element(left.begin(), left.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return score(a) < score(b); });
      cohort.push_back(*best);
      left.erase(best);
      const std::vector<double>& chosen = labels[cohort.back()];
      for (const std::uint32_t id : left)
        if (labels[id].size() == chosen.size())
          similarity[id] = std::max(similarity[id], dot(labels[id], chosen));
    }
    return cohort;
  }

  bool needs_labels() const override { return true; }

 private:
  double relevance_;
};

}  // namespace

Method mmr_diverse_method() {
  return {"heuristic.mmr_diverse",
          "MMR",
          "maximal marginal relevance: Carbonell and Goldstein, SIGIR 1998",
          "useful clients (loss, norm, speed, channel, few participations) with unlike labels",
          {{"relevance", 0.7, 0, 1, "weight of usefulness against likeness"}},
          [](std::span<const double> values) { return std::make_unique<MmrDiverse>(values[0]); },
          CandidatesDrawn::each_round};
}

}  // namespace ebb::fl::select
