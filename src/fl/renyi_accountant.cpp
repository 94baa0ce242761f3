// SPDX-License-Identifier: Apache-2.0
#include "fl/renyi_accountant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kLeastOrder = 2;
constexpr std::size_t kMostOrder = 256;
constexpr std::size_t kOrders = kMostOrder - kLeastOrder + 1;

using LogFactorials = std::array<double, kMostOrder + 1>;
using Terms = std::vector<double>;

const LogFactorials& log_factorials() {
  static const LogFactorials table = [] {
    LogFactorials logs{};
    for (std::size_t i = 1; i < logs.size(); ++i)
      logs[i] = logs[i - 1] + std::log(static_cast<double>(i));
    return logs;
  }();
  return table;
}

double log_binomial(std::size_t of, std::size_t taken) {
  const LogFactorials& logs = log_factorials();
  return logs[of] - logs[taken] - logs[of - taken];
}

/// Logarithm of the sum of what these are logarithms of.
double log_sum(const Terms& terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms)
    sum += std::exp(term - largest);
  return largest + std::log(sum);
}

/// The mechanism without sampling: also a bound with it, since the divergence is quasi-convex.
double gaussian(double order, double noise) {
  return order / (2 * noise * noise);
}

/// The binomial sum of Mironov, Talwar and Zhang 2019, section 3.3.
double of_poisson(std::size_t order, double share, double noise) {
  const auto whole = static_cast<double>(order);
  if (share >= 1) return gaussian(whole, noise);
  Terms terms;
  for (std::size_t k = 0; k <= order; ++k) {
    const auto taken = static_cast<double>(k);
    terms.push_back(log_binomial(order, k) + taken * std::log(share) +
                    (whole - taken) * std::log1p(-share) +
                    taken * (taken - 1) / (2 * noise * noise));
  }
  return std::max(0.0, log_sum(terms) / (whole - 1));
}

/// Logarithms of the forward differences of even orders in theorem 27 of Wang, Balle and
/// Kasiviswanathan 2019: alternating sums, to which is added what rounding may have taken off. Of
/// the orders between nothing is asked.
Terms differences(double noise) {
  Terms logs(kMostOrder + 1, HUGE_VAL);
  for (std::size_t order = 2; order <= kMostOrder; order += 2) {
    double binomial = 1;
    double sum = 0;
    double size = 0;
    for (std::size_t i = 0; i <= order; ++i) {
      const auto taken = static_cast<double>(i);
      const double term = binomial * std::exp(taken * (taken - 1) / (2 * noise * noise));
      sum += i % 2 == 0 ? term : -term;
      size += term;
      binomial = binomial * static_cast<double>(order - i) / (taken + 1);
    }
    if (!std::isfinite(size)) break;
    constexpr double kRounding = std::numeric_limits<double>::epsilon();
    logs[order] = std::log(std::fabs(sum) + size * 4 * static_cast<double>(order + 4) * kRounding);
  }
  return logs;
}

/// Wang, Balle and Kasiviswanathan 2019, theorem 27; `noise` in units of what one client moves.
double of_fixed(std::size_t order, double share, double noise, const Terms& differences) {
  const auto whole = static_cast<double>(order);
  const double unsampled = gaussian(whole, noise);
  if (share >= 1) return unsampled;
  const double second = gaussian(2, noise);
  Terms terms = {0};
  for (std::size_t j = 2; j <= order; ++j) {
    const auto taken = static_cast<double>(j);
    double moment = std::log(2) + (taken - 1) * gaussian(taken, noise);
    const double sharper = j == 2 ? second + std::log1p(-std::exp(-second))
                                  : (differences[j / 2 * 2] + differences[(j + 1) / 2 * 2]) / 2;
    moment = std::min(moment, std::log(4) + sharper);
    terms.push_back(taken * std::log(share) + log_binomial(order, j) + moment);
  }
  return std::min(unsampled, log_sum(terms) / (whole - 1));
}

}  // namespace

RenyiAccountant::RenyiAccountant(Sampling sampling, double share, double noise) {
  EBB_CHECK(share > 0 && share <= 1 && noise > 0);
  const Terms of_halves = sampling == Sampling::fixed ? differences(noise / 2) : Terms();
  for (std::size_t i = 0; i < kOrders; ++i) {
    const std::size_t order = kLeastOrder + i;
    divergences_.push_back(sampling == Sampling::poisson
                               ? of_poisson(order, share, noise)
                               : of_fixed(order, share, noise / 2, of_halves));
  }
}

double RenyiAccountant::epsilon(std::uint32_t rounds, double delta) const {
  EBB_CHECK(delta > 0 && delta < 1);
  if (rounds == 0) return 0;
  // Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21.
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < kOrders; ++i) {
    const auto order = static_cast<double>(kLeastOrder + i);
    best = std::min(best, rounds * divergences_[i] + std::log1p(-1 / order) -
                              (std::log(delta) + std::log(order)) / (order - 1));
  }
  return std::max(0.0, best);
}

}  // namespace ebb::fl
