// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// metrics: what is known of running jobs, for Prometheus. Families of values as data, made from a
// record, and the two texts in which they are exchanged.

namespace ebb::metrics {

enum class Kind : std::uint8_t {
  gauge,
  counter,    ///< only rises while what it counts is there
  info,       ///< 1; its labels are what it tells
  state_set,  ///< for each state 1 or 0; the label of that name says which
};

/// A family of values. The name ends with its unit, if it has one; a counter's is without `_total`,
/// an info's without `_info`.
struct Metric {
  const char* name;
  Kind kind;
  const char* unit;  ///< "bytes", "seconds", "ratio"; "" none
  const char* help;
};

using Label = std::pair<std::string, std::string>;
using Labels = std::vector<Label>;

struct Value {
  Labels labels;
  double number = 0;
};

struct Family {
  const Metric* metric;
  std::vector<Value> values;
};

/// Collects values by family, in the order in which families first come.
class Families {
 public:
  /// What is no number is not known, and left out. `metric` outlives this object.
  void add(const Metric& metric, Labels labels, double number);
  /// Likewise what is nothing.
  template <class Number>
  void add(const Metric& metric, const Labels& labels, const std::optional<Number>& number) {
    if (number) add(metric, labels, static_cast<double>(*number));
  }
  /// Which of `states` it is.
  void add_state(const Metric& metric, const Labels& labels, std::span<const char* const> states,
                 std::string_view state);

  const std::vector<Family>& all() const { return families_; }

 private:
  std::vector<Family> families_;
};

}  // namespace ebb::metrics
