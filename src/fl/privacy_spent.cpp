// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy_spent.h"

#include "base/text.h"

namespace ebb::fl {
namespace {

/// Who is chosen does not depend on anybody's data.
bool draws_blindly(const Config& config) {
  return config.per_round == config.clients || config.method == "heuristic.random" ||
         config.method == "baseline.fedavg";
}

std::string reason_against(const Config& config) {
  if (!config.privacy.on()) return {};
  if (!check(config)) return "the configuration is not one that can be simulated";
  if (config.privacy.noise == 0) return "no noise is added";
  if (!draws_blindly(config)) return config.method + " chooses clients by what it knows of them";
  if (config.world.staleness > 0) return "late updates may join those of the same client";
  return {};
}

const char* neighbours_of(Sampling sampling) {
  return sampling == Sampling::poisson ? "one client more or less" : "one client replaced";
}

}  // namespace

PrivacySpent::PrivacySpent(const Config& config)
    : why_unknown_(reason_against(config)), delta_(config.privacy.delta) {
  if (!config.privacy.on() || !why_unknown_.empty()) return;
  const double share = static_cast<double>(config.per_round) / config.clients;
  accountant_.emplace(config.privacy.sampling, share, config.privacy.noise);
}

std::optional<double> PrivacySpent::after(std::uint32_t rounds) const {
  if (!accountant_) return std::nullopt;
  return accountant_->epsilon(rounds, delta_);
}

base::Json privacy_json(const Config& config, std::uint32_t rounds, std::optional<double> clip) {
  const PrivacyOptions& privacy = config.privacy;
  if (!privacy.on()) return {};
  const PrivacySpent spent(config);
  const auto epsilon = spent.after(rounds);
  base::Json json = base::Json::object(
      {{"epsilon", epsilon}, {"delta", privacy.delta}, {"noise_multiplier", privacy.noise}});
  const bool is_sound = check(config).has_value();
  const bool counts = is_sound && privacy.adapts();
  json.set("sum_noise",
           is_sound ? base::Json(sum_noise_of(privacy, config.per_round)) : base::Json());
  json.set("count_noise",
           counts ? base::Json(count_noise_of(privacy, config.per_round)) : base::Json());
  json.set("clip", clip);
  json.set("sampling", name_of(privacy.sampling));
  json.set("neighbours", epsilon ? base::Json(neighbours_of(privacy.sampling)) : base::Json());
  json.set("why_unknown", epsilon ? base::Json() : base::Json(spent.why_unknown()));
  return json;
}

std::string privacy_text(const Config& config, std::uint32_t rounds) {
  if (!config.privacy.on()) return {};
  const PrivacySpent spent(config);
  const auto epsilon = spent.after(rounds);
  if (!epsilon) return "epsilon is not known: " + spent.why_unknown();
  return base::format_text("epsilon %.3g at delta %g after round %u, for %s", *epsilon,
                           config.privacy.delta, rounds, neighbours_of(config.privacy.sampling));
}

}  // namespace ebb::fl
