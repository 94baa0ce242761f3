// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ebb::fl {

/// How the clients of a round are drawn, as far as privacy is accounted for.
enum class Sampling : std::uint8_t {
  fixed,    ///< so many of them, every cohort equally likely
  poisson,  ///< each by itself, with the same probability
};
const char* name_of(Sampling sampling);
/// Code::bad_input names the nearest.
base::Result<Sampling> sampling_from(std::string_view name);

/// Differential privacy of the clients (McMahan et al. 2018): each update is cut to `clip` in
/// Euclidean norm, and noise of `noise` times that is added to their sum. The norm may follow a
/// quantile of the updates' norms (Andrew et al. 2021): the count of those that were within it is
/// published with noise of its own, for which the sum then has more.
struct PrivacyOptions {
  double clip = 0;  ///< 0: off; where it follows a quantile: of the first round
  double noise = 0;
  double delta = 1e-5;
  Sampling sampling = Sampling::fixed;
  std::optional<double> target_quantile{};  ///< share of updates that are to be within the norm
  double clip_lr = 0.2;                     ///< how fast the norm goes there
  std::optional<double> count_noise{};      ///< deviation, in clients; else as below

  bool on() const { return clip > 0; }
  bool adapts() const { return target_quantile.has_value(); }
};

/// Deviation of the noise on the count: a twentieth of the cohort, as Andrew et al. have it, or
/// `noise`, if that is more; none where there is no noise at all.
double count_noise_of(const PrivacyOptions& options, std::uint32_t per_round);
/// Noise of the sum, in units of the norm, so that sum and count together spend what a sum with
/// `noise` alone does. Requires: check() finds nothing.
double sum_noise_of(const PrivacyOptions& options, std::uint32_t per_round);

/// The factor (at most 1) that brings an update of Euclidean norm `norm` to `clip`.
double clip_factor(double norm, double clip);

/// The share of updates within the norm, as it is published: `within` of `arrived` were, of
/// `per_round` that were expected, with `noise` clients added. Who is missing counts a half.
double published_share(std::uint64_t within, std::uint64_t arrived, std::uint32_t per_round,
                       double noise);
/// The norm of the next round, where that share was within `clip`.
double next_clip(const PrivacyOptions& options, double clip, double share);

/// Code::bad_input where an option is out of its range.
base::Status check(const PrivacyOptions& options, std::uint32_t per_round);

}  // namespace ebb::fl
