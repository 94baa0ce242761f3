// SPDX-License-Identifier: Apache-2.0
#include "fl/statistics.h"

#include <cmath>

#include "base/check.h"

namespace ebb::fl {
namespace {

/// The continued fraction of the incomplete beta function (DLMF 8.17.22) by the method of Lentz.
/// Converges fast for x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10000;
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

double log_gamma(double x) {
  int sign = 0;  // lgamma keeps it in a global variable
  return ::lgamma_r(x, &sign);
}

/// Regularised; `rest` is 1 - x, given apart so that neither end loses digits.
double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, rest) / b;
}

}  // namespace

double student_two_sided_p(double t, double degrees) {
  EBB_CHECK(degrees > 0);
  if (std::isinf(t)) return 0;
  const double whole = degrees + t * t;
  return incomplete_beta(degrees / 2, 0.5, degrees / whole, t * t / whole);
}

double student_95(double degrees) {
  double low = 0;
  double high = 2;
  while (student_two_sided_p(high, degrees) > 0.05)
    high *= 2;
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    (student_two_sided_p(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

Band band_of(std::span<const double> values) {
  Band band;
  if (values.empty()) return band;
  const auto count = static_cast<double>(values.size());
  for (const double value : values)
    band.mean += value / count;
  band.low = band.high = band.mean;
  if (values.size() == 1) return band;
  double squares = 0;
  for (const double value : values)
    squares += (value - band.mean) * (value - band.mean);
  band.deviation = std::sqrt(squares / (count - 1));
  const double reach = student_95(count - 1) * band.deviation / std::sqrt(count);
  band.low -= reach;
  band.high += reach;
  return band;
}

std::optional<PairedTest> paired_test(std::span<const double> first,
                                      std::span<const double> second) {
  EBB_CHECK(first.size() == second.size());
  if (first.size() < 2) return std::nullopt;
  std::vector<double> differences(first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    differences[i] = first[i] - second[i];
  const Band band = band_of(differences);
  PairedTest test{band.mean, band.low, band.high, 1};
  const auto count = static_cast<double>(first.size());
  if (band.deviation > 0) {
    test.p = student_two_sided_p(band.mean * std::sqrt(count) / band.deviation, count - 1);
  } else if (band.mean != 0) {
    test.p = 0;
  }
  return test;
}

std::optional<double> reached_at(std::span<const double> at, std::span<const double> values,
                                 double target) {
  EBB_CHECK(at.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= target)) continue;
    if (i == 0) return at[0];
    const double share = (target - values[i - 1]) / (values[i] - values[i - 1]);
    return at[i - 1] + share * (at[i] - at[i - 1]);
  }
  return std::nullopt;
}

}  // namespace ebb::fl
