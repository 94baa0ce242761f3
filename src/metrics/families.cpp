// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

#include <algorithm>
#include <cmath>

namespace ebb::metrics {

void Families::add(const Metric& metric, Labels labels, double number) {
  if (!std::isfinite(number)) return;
  auto found = std::find_if(families_.begin(), families_.end(),
                            [&](const Family& one) { return one.metric == &metric; });
  if (found == families_.end()) found = families_.insert(found, Family{&metric, {}});
  found->values.push_back({std::move(labels), number});
}

void Families::add_state(const Metric& metric, const Labels& labels,
                         std::span<const char* const> states, std::string_view state) {
  for (const char* one : states) {
    Labels with_state = labels;
    with_state.emplace_back(metric.name, one);
    add(metric, std::move(with_state), one == state ? 1.0 : 0.0);
  }
}

}  // namespace ebb::metrics
