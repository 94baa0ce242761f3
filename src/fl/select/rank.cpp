// SPDX-License-Identifier: Apache-2.0
#include "fl/select/rank.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ebb::fl::select {

double measured(double value) {
  return std::isfinite(value) ? std::clamp(value, -1e9, 1e9) : 0;
}

Ids ranked(std::span<const double> scores, Random& random, std::size_t count) {
  struct Ranked {
    double score;
    std::uint32_t place;  ///< in random order, which decides between equals
    std::uint32_t id;
  };
  const auto size = static_cast<std::uint32_t>(scores.size());
  std::vector<Ranked> all;
  all.reserve(size);
  for (const std::uint32_t id : random.sample(size, size)) {
    const double score =
        std::isnan(scores[id]) ? -std::numeric_limits<double>::infinity() : scores[id];
    all.push_back({score, static_cast<std::uint32_t>(all.size()), id});
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, size));
  const auto before = [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.place < b.place;
  };
  // Of a million only some are wanted.
  if (end != all.end()) std::nth_element(all.begin(), end, all.end(), before);
  std::sort(all.begin(), end, before);
  Ids order;
  order.reserve(static_cast<std::size_t>(end - all.begin()));
  for (auto one = all.begin(); one != end; ++one)
    order.push_back(one->id);
  return order;
}

std::vector<bool> silent_ones(const Choice& choice) {
  std::vector<bool> silent;
  silent.reserve(choice.clients.size());
  for (const Client& client : choice.clients)
    silent.push_back(client.unanswered > 0 &&
                     choice.random.uniform() >= std::exp2(-static_cast<double>(client.unanswered)));
  return silent;
}

Ids best_first(const Choice& choice, std::span<const std::optional<double>> scores,
               std::size_t count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<bool> silent = silent_ones(choice);
  std::vector<double> filled;
  filled.reserve(scores.size());
  for (std::size_t id = 0; id < scores.size(); ++id)
    filled.push_back(silent[id] ? -kInfinity : scores[id].value_or(kInfinity));
  return ranked(filled, choice.random, count);
}

Acquaintance acquaintance(const Choice& choice) {
  const std::vector<bool> silent = silent_ones(choice);
  Acquaintance all;
  for (std::uint32_t id = 0; id < choice.clients.size(); ++id)
    (silent[id] ? all.silent : choice.clients[id].loss ? all.seen : all.unseen).push_back(id);
  return all;
}

Ids first(Ids ids, std::size_t count) {
  ids.resize(std::min(ids.size(), count));
  return ids;
}

Ids drawn(std::span<const double> weights, std::size_t count, Random& random) {
  // Exponential clocks that run at the speed of the weights ring in the order of such draws
  // (Efraimidis and Spirakis 2006).
  std::vector<double> sooner;
  sooner.reserve(weights.size());
  for (const double weight : weights) {
    const double time = -std::log(1 - random.uniform());
    sooner.push_back(weight > 0 ? -time / weight : -std::numeric_limits<double>::infinity());
  }
  return ranked(sooner, random, count);
}

Ids drawn(const Ids& ids, std::span<const double> weights, std::size_t count, Random& random) {
  Ids chosen = drawn(weights, count, random);
  for (std::uint32_t& place : chosen)
    place = ids[place];
  return chosen;
}

Ids some_of(const Ids& ids, std::size_t count, Random& random) {
  const auto size = static_cast<std::uint32_t>(ids.size());
  Ids chosen = random.sample(size, static_cast<std::uint32_t>(std::min(ids.size(), count)));
  for (std::uint32_t& place : chosen)
    place = ids[place];
  return chosen;
}

Ids candidates(const std::vector<bool>& taken, std::size_t picks, double tolerance,
               Random& random) {
  Ids left;
  for (std::uint32_t id = 0; id < taken.size(); ++id)
    if (!taken[id]) left.push_back(id);
  const double size = static_cast<double>(taken.size()) / static_cast<double>(picks);
  return some_of(left, static_cast<std::size_t>(std::ceil(size * -std::log(tolerance))), random);
}

void normalise(std::span<double> values) {
  if (values.empty()) return;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double from = *least;
  const double range = *most - from;
  for (double& value : values)
    value = range > 0 ? (value - from) / range : 0;
}

std::vector<double> hopeful(std::span<const Client> clients, std::optional<double> Client::*what) {
  std::vector<double> known;
  for (const Client& client : clients)
    if (client.*what) known.push_back(measured(*(client.*what)));
  normalise(known);
  std::vector<double> all;
  all.reserve(clients.size());
  auto next = known.begin();
  for (const Client& client : clients)
    all.push_back(client.*what ? *next++ : 1 / (1.0 + client.unanswered));
  return all;
}

double quantile(std::vector<double> values, double share) {
  const double place = std::ceil(share * static_cast<double>(values.size())) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::max(place, 0.0));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

base::Result<std::vector<double>> fresh_losses(const Choice& choice, const Ids& ids) {
  auto losses = choice.probe(ids);
  if (!losses) return losses;
  EBB_CHECK(losses->size() == ids.size());
  for (double& loss : *losses)
    loss = measured(loss);
  return losses;
}

std::uint32_t whole(double value) {
  return static_cast<std::uint32_t>(std::lround(value));
}

}  // namespace ebb::fl::select
