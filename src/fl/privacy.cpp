// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kLeastOrder = 2;
constexpr std::size_t kMostOrder = 256;
constexpr std::size_t kOrders = kMostOrder - kLeastOrder + 1;

using LogFactorials = std::array<double, kMostOrder + 1>;

const LogFactorials& log_factorials() {
  static const LogFactorials table = [] {
    LogFactorials logs{};
    for (std::size_t i = 1; i < logs.size(); ++i)
      logs[i] = logs[i - 1] + std::log(static_cast<double>(i));
    return logs;
  }();
  return table;
}

/// Rényi divergence of one round at an integer order: the binomial sum of Mironov, Talwar and Zhang
/// 2019, section 3.3.
double divergence_of(std::size_t order, double share, double noise) {
  const auto whole = static_cast<double>(order);
  if (share >= 1) return whole / (2 * noise * noise);
  const LogFactorials& logs = log_factorials();
  std::array<double, kMostOrder + 1> terms{};
  double largest = -HUGE_VAL;
  for (std::size_t k = 0; k <= order; ++k) {
    const auto taken = static_cast<double>(k);
    terms[k] = logs[order] - logs[k] - logs[order - k] + taken * std::log(share) +
               (whole - taken) * std::log1p(-share) + taken * (taken - 1) / (2 * noise * noise);
    largest = std::max(largest, terms[k]);
  }
  double sum = 0;
  for (std::size_t k = 0; k <= order; ++k)
    sum += std::exp(terms[k] - largest);
  return std::max(0.0, (largest + std::log(sum)) / (whole - 1));
}

}  // namespace

RenyiAccountant::RenyiAccountant() : divergences_(kOrders) {}

void RenyiAccountant::add_round(double share, double noise) {
  EBB_CHECK(share > 0 && share <= 1 && noise > 0);
  for (std::size_t i = 0; i < kOrders; ++i)
    divergences_[i] += divergence_of(kLeastOrder + i, share, noise);
}

double RenyiAccountant::epsilon(double delta) const {
  EBB_CHECK(delta > 0 && delta < 1);
  if (std::all_of(divergences_.begin(), divergences_.end(), [](double d) { return d == 0; }))
    return 0;
  // Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21.
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < kOrders; ++i) {
    const auto order = static_cast<double>(kLeastOrder + i);
    best = std::min(best, divergences_[i] + std::log1p(-1 / order) -
                              (std::log(delta) + std::log(order)) / (order - 1));
  }
  return std::max(0.0, best);
}

base::Status RenyiAccountant::restore(std::span<const double> divergences) {
  if (divergences.size() != kOrders) {
    return base::error(base::Code::bad_input, "privacy: %zu divergences, expected %zu",
                       divergences.size(), kOrders);
  }
  for (const double divergence : divergences) {
    if (!(divergence >= 0))
      return base::error(base::Code::bad_input, "privacy: a divergence of %g, expected 0 or more",
                         divergence);
  }
  divergences_.assign(divergences.begin(), divergences.end());
  return {};
}

double clip_factor(double norm, double clip) {
  return norm > clip ? clip / norm : 1;
}

base::Status check(const PrivacyOptions& options) {
  if (!(options.clip >= 0 && std::isfinite(options.clip)))
    return base::error(base::Code::bad_input, "dp_clip %g, expected 0 (off) or more", options.clip);
  if (!(options.noise >= 0 && std::isfinite(options.noise)))
    return base::error(base::Code::bad_input, "dp_noise %g, expected 0 or more", options.noise);
  if (options.noise > 0 && !options.on())
    return base::error(base::Code::bad_input,
                       "dp_noise %g without dp_clip, expected a norm to cut updates to",
                       options.noise);
  if (!(options.delta > 0 && options.delta < 1))
    return base::error(base::Code::bad_input, "dp_delta %g, expected between 0 and 1",
                       options.delta);
  return {};
}

}  // namespace ebb::fl
