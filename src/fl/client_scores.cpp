// SPDX-License-Identifier: Apache-2.0
#include "fl/client_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace ebb::fl {
namespace {

base::Json spread_json(const ClientSpread& spread) {
  return base::Json::object({{"mean", spread.mean},
                             {"deviation", spread.deviation},
                             {"worst_tenth", spread.worst_tenth}});
}

bool read_spread(const base::Json& json, const char* key, ClientSpread& into) {
  const base::Json* found = json.find(key);
  if (found == nullptr) return false;
  const auto read = [&](const char* name, double& value) {
    const base::Json* number = found->find(name);
    if (number == nullptr || !number->as_double()) return false;
    value = *number->as_double();
    return true;
  };
  return read("mean", into.mean) && read("deviation", into.deviation) &&
         read("worst_tenth", into.worst_tenth);
}

}  // namespace

ClientSpread spread_of(std::span<const double> values, Better better) {
  EBB_CHECK(!values.empty());
  // In order of value: the sums have the same bits whoever is which client.
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  if (better == Better::lower) std::reverse(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  ClientSpread spread;
  spread.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  double squares = 0;
  for (const double value : sorted)
    squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / count);
  const std::size_t tenth = (sorted.size() + 9) / 10;
  const auto worst = std::span(sorted).first(tenth);
  spread.worst_tenth =
      std::accumulate(worst.begin(), worst.end(), 0.0) / static_cast<double>(tenth);
  return spread;
}

base::Json to_json(const ClientScores& scores) {
  return base::Json::object(
      {{"accuracy", spread_json(scores.accuracy)}, {"loss", spread_json(scores.loss)}});
}

base::Result<ClientScores> client_scores_from(const base::Json& json) {
  ClientScores scores;
  if (read_spread(json, "accuracy", scores.accuracy) && read_spread(json, "loss", scores.loss))
    return scores;
  return base::error(
      base::Code::bad_input,
      "client_scores: expected mean, deviation and worst_tenth of accuracy and loss");
}

}  // namespace ebb::fl
