// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fl/names.h"

namespace ebb::fl {
namespace {

constexpr std::array<Named<Sampling>, 2> kSamplings = {{
    {Sampling::fixed, "fixed"},
    {Sampling::poisson, "poisson"},
}};

// A norm beyond these would be none any more.
constexpr double kLeastClip = 1e-12;
constexpr double kMostClip = 1e12;

base::Status check_adaptive(const PrivacyOptions& options, std::uint32_t per_round) {
  if (!options.adapts()) {
    if (!options.count_noise) return {};
    return base::error(base::Code::bad_input,
                       "dp_count_noise %g without dp_target_quantile: nothing is counted",
                       *options.count_noise);
  }
  if (!options.on())
    return base::error(base::Code::bad_input,
                       "dp_target_quantile %g without dp_clip, expected a norm to begin with",
                       *options.target_quantile);
  if (!(*options.target_quantile > 0 && *options.target_quantile < 1))
    return base::error(base::Code::bad_input, "dp_target_quantile %g, expected between 0 and 1",
                       *options.target_quantile);
  if (!(options.clip_lr > 0 && options.clip_lr <= 10))
    return base::error(base::Code::bad_input, "dp_clip_lr %g, expected above 0 and at most 10",
                       options.clip_lr);
  const double count_noise = count_noise_of(options, per_round);
  if (!(count_noise >= 0 && std::isfinite(count_noise)))
    return base::error(base::Code::bad_input, "dp_count_noise %g, expected 0 or more", count_noise);
  if (options.noise > 0 && count_noise <= options.noise / 2)
    return base::error(base::Code::bad_input,
                       "dp_count_noise %g, expected more than half of the dp_noise of %g: the "
                       "count alone would spend more",
                       count_noise, options.noise);
  return {};
}

}  // namespace

const char* name_of(Sampling sampling) {
  return name_in<Sampling>(kSamplings, sampling);
}

base::Result<Sampling> sampling_from(std::string_view name) {
  return value_in<Sampling>(kSamplings, "dp_sampling", name);
}

double count_noise_of(const PrivacyOptions& options, std::uint32_t per_round) {
  if (options.count_noise) return *options.count_noise;
  return options.noise > 0 ? std::max(per_round / 20.0, options.noise) : 0;
}

double sum_noise_of(const PrivacyOptions& options, std::uint32_t per_round) {
  if (!options.adapts() || options.noise == 0) return options.noise;
  // A client moves the count, less a half for each, by a half at most: Andrew et al. 2021,
  // theorem 1.
  const double of_count = 1 / (2 * count_noise_of(options, per_round));
  return 1 / std::sqrt(1 / (options.noise * options.noise) - of_count * of_count);
}

double clip_factor(double norm, double clip) {
  return norm > clip ? clip / norm : 1;
}

double published_share(std::uint64_t within, std::uint64_t arrived, std::uint32_t per_round,
                       double noise) {
  const double count = static_cast<double>(within) - static_cast<double>(arrived) / 2;
  return 0.5 + (count + noise) / per_round;
}

double next_clip(const PrivacyOptions& options, double clip, double share) {
  const double next =
      clip * std::exp(-options.clip_lr * (share - options.target_quantile.value_or(share)));
  return std::clamp(next, kLeastClip, kMostClip);
}

base::Status check(const PrivacyOptions& options, std::uint32_t per_round) {
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
  return check_adaptive(options, per_round);
}

}  // namespace ebb::fl
