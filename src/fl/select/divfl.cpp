// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

/// Updates are compared with each other: of more clients than this, as many at random.
constexpr std::size_t kMostCompared = 2000;

using Sketch = std::array<float, kSketchLength>;

Sketch sketch_of(const Client& client) {
  Sketch sketch{};
  const bool usable = std::all_of(client.sketch.begin(), client.sketch.end(),
                                  [](float value) { return std::isfinite(value); });
  if (usable)
    std::copy_n(client.sketch.begin(), std::min(client.sketch.size(), sketch.size()),
                sketch.begin());
  return sketch;
}

float distance(const Sketch& a, const Sketch& b) {
  // Eight sums side by side, which the compiler turns into one vector.
  std::array<float, 8> sums{};
  for (std::size_t i = 0; i < a.size(); i += sums.size())
    for (std::size_t lane = 0; lane < sums.size(); ++lane)
      sums[lane] += (a[i + lane] - b[i + lane]) * (a[i + lane] - b[i + lane]);
  float sum = 0;
  for (const float part : sums)
    sum += part;
  return std::sqrt(std::min(sum, 1e30F));
}

/// The `count` of `ids` that stand closest to all of them: facility location.
Ids facilities(const Choice& choice, const Ids& ids, std::size_t count, double tolerance) {
  std::vector<Sketch> sketches;
  for (const std::uint32_t id : ids)
    sketches.push_back(sketch_of(choice.clients[id]));
  std::vector<float> distances(ids.size() * ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      distances[i * ids.size() + j] = distances[j * ids.size() + i] =
          distance(sketches[i], sketches[j]);

  const float farthest = *std::max_element(distances.begin(), distances.end());
  std::vector<float> nearest(ids.size(), farthest);
  std::vector<bool> taken(ids.size());
  Ids chosen;
  while (chosen.size() < count) {
    double most = -1;
    std::uint32_t best = 0;
    for (const std::uint32_t candidate : candidates(taken, count, tolerance, choice.random)) {
      const float* row = &distances[candidate * ids.size()];
      double gain = 0;
      for (std::size_t i = 0; i < ids.size(); ++i)
        gain += std::max(0.0F, nearest[i] - row[i]);
      if (gain > most) {
        most = gain;
        best = candidate;
      }
    }
    taken[best] = true;
    chosen.push_back(ids[best]);
    for (std::size_t i = 0; i < ids.size(); ++i)
      nearest[i] = std::min(nearest[i], distances[best * ids.size() + i]);
  }
  return chosen;
}

class DivFl final : public Selector {
 public:
  explicit DivFl(double tolerance) : tolerance_(tolerance) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto [seen, unseen, silent] = acquaintance(choice);
    Ids cohort = some_of(unseen, choice.count, choice.random);
    if (const std::size_t places = std::min(choice.count - cohort.size(), seen.size());
        places > 0) {
      const Ids compared = some_of(seen, std::max(places, kMostCompared), choice.random);
      const Ids rest = facilities(choice, compared, places, tolerance_);
      cohort.insert(cohort.end(), rest.begin(), rest.end());
    }
    const Ids last = some_of(silent, choice.count - cohort.size(), choice.random);
    cohort.insert(cohort.end(), last.begin(), last.end());
    return cohort;
  }

  bool needs_sketches() const override { return true; }

 private:
  double tolerance_;
};

}  // namespace

Method divfl_method() {
  return {"ml.divfl",
          "DivFL",
          "Balakrishnan et al., ICLR 2022 (openreview.net/forum?id=nwKXyFvaUm)",
          "those whose last updates together stand for everyone's; never seen first",
          {{"tolerance", 0.05, 1e-6, 0.9, "how far a step may stay behind full greedy"}},
          [](std::span<const double> values) { return std::make_unique<DivFl>(values[0]); }};
}

}  // namespace ebb::fl::select
