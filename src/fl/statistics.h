// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ebb::fl {

/// A mean with the band in which it lies with 95 % confidence (Student's t).
struct Band {
  double mean = 0;
  double low = 0;  ///< as mean where there is but one value
  double high = 0;
  double deviation = 0;
};
Band band_of(std::span<const double> values);

/// Whether two methods differ, from repeats that shared their seeds.
struct PairedTest {
  double difference = 0;  ///< mean of first - second
  double low = 0;         ///< of its 95 % band
  double high = 0;
  double p = 1;  ///< two-sided, paired t test
};
/// Nothing where there are fewer than two pairs. Requires: as many of each.
std::optional<PairedTest> paired_test(std::span<const double> first,
                                      std::span<const double> second);

/// The first position at which `values` reaches `target`, interpolated between positions given by
/// `at`; nothing where it never does.
std::optional<double> reached_at(std::span<const double> at, std::span<const double> values,
                                 double target);

/// Student's t distribution: P(|T| >= t), and the t with P(|T| <= t) = 0.95.
double student_two_sided_p(double t, double degrees);
double student_95(double degrees);

}  // namespace ebb::fl
