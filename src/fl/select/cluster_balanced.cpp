// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "fl/select/algebra.h"
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

/// Those who have been seen, by cluster; then one group of those who have not.
std::vector<Ids> groups_of(const Choice& choice, std::size_t clusters) {
  Ids seen;
  Ids unseen;
  for (std::uint32_t id = 0; id < choice.clients.size(); ++id)
    (choice.clients[id].loss ? seen : unseen).push_back(id);

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

  std::vector<Ids> groups(clusters + 1);
  const std::vector<std::uint32_t> cluster = k_means(points, 3, clusters, choice.random);
  for (std::size_t i = 0; i < seen.size(); ++i)
    groups[cluster[i]].push_back(seen[i]);
  groups.back() = std::move(unseen);
  return groups;
}

class ClusterBalanced final : public Selector {
 public:
  explicit ClusterBalanced(std::uint32_t clusters) : clusters_(clusters) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto root = std::sqrt(static_cast<double>(choice.clients.size()));
    const auto automatic = std::min<std::size_t>(choice.count, static_cast<std::size_t>(root));
    const std::size_t clusters = clusters_ > 0 ? clusters_ : automatic;
    std::vector<Ids> groups = groups_of(choice, std::max<std::size_t>(clusters, 1));
    for (Ids& group : groups)
      choice.random.shuffle(std::span(group));

    Ids cohort;
    while (cohort.size() < choice.count) {
      choice.random.shuffle(std::span(groups));
      for (Ids& group : groups) {
        if (group.empty() || cohort.size() == choice.count) continue;
        cohort.push_back(group.back());
        group.pop_back();
      }
    }
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
