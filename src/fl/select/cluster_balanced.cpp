// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "fl/select/algebra.h"
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

/// `seen` by cluster.
std::vector<Ids> groups_of(const Choice& choice, const Ids& seen, std::size_t clusters) {
  std::vector<double> loss;
  std::vector<double> norm;
  std::vector<double> samples;
  for (const std::uint32_t id : seen) {
    const Client& client = choice.clients[id];
    loss.push_back(measured(*client.loss));
    norm.push_back(measured(client.gradient_norm.value_or(0)));
    samples.push_back(client.samples);
  }
  normalise(loss);
  normalise(norm);
  normalise(samples);
  std::vector<double> points;
  for (std::size_t i = 0; i < seen.size(); ++i)
    points.insert(points.end(), {loss[i], norm[i], samples[i]});

  std::vector<Ids> groups(clusters);
  const std::vector<std::uint32_t> cluster = k_means(points, 3, clusters, choice.random);
  for (std::size_t i = 0; i < seen.size(); ++i)
    groups[cluster[i]].push_back(seen[i]);
  return groups;
}

class ClusterBalanced final : public Selector {
 public:
  explicit ClusterBalanced(std::uint32_t clusters) : clusters_(clusters) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto root = std::sqrt(static_cast<double>(choice.clients.size()));
    const auto automatic = std::min<std::size_t>(choice.count, static_cast<std::size_t>(root));
    const std::size_t clusters = clusters_ > 0 ? clusters_ : automatic;
    const auto [seen, unseen, silent] = acquaintance(choice);
    std::vector<Ids> groups = groups_of(choice, seen, std::max<std::size_t>(clusters, 1));
    groups.push_back(unseen);
    for (Ids& group : groups)
      choice.random.shuffle(std::span(group));

    Ids cohort;
    const std::size_t places = std::min<std::size_t>(choice.count, seen.size() + unseen.size());
    while (cohort.size() < places) {
      choice.random.shuffle(std::span(groups));
      for (Ids& group : groups) {
        if (group.empty() || cohort.size() == places) continue;
        cohort.push_back(group.back());
        group.pop_back();
      }
    }
    const Ids last = some_of(silent, choice.count - cohort.size(), choice.random);
    cohort.insert(cohort.end(), last.begin(), last.end());
    return cohort;
  }

 private:
  std::uint32_t clusters_;
};

}  // namespace

Method cluster_balanced_method() {
  return {"heuristic.cluster_balanced",
          "Cluster balanced",
          "after Fraboni et al., Clustered Sampling, ICML 2021 (arXiv 2105.05883)",
          "as many from each cluster of loss, update norm and samples; the never seen are one",
          {{"clusters", 0, 0, 1000, "how many; 0: the root of the clients, at most the cohort"}},
          [](std::span<const double> values) {
            return std::make_unique<ClusterBalanced>(whole(values[0]));
          }};
}

}  // namespace ebb::fl::select
