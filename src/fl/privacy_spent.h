// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "fl/config.h"
#include "fl/renyi_accountant.h"

namespace ebb::fl {

/// The privacy that a simulation spends: of its clients, by its models, whoever sums them up being
/// trusted. A figure is there only where a theorem is.
class PrivacySpent {
 public:
  /// Of any configuration, also one that a record has.
  explicit PrivacySpent(const Config& config);

  /// Epsilon at the configuration's delta.
  std::optional<double> after(std::uint32_t rounds) const;
  /// Why there is no figure; "" where there is one, or where nobody asked for privacy.
  const std::string& why_unknown() const { return why_unknown_; }

 private:
  std::string why_unknown_;
  double delta_;
  std::optional<RenyiAccountant> accountant_;
};

/// What was asked for, what was spent in `rounds` and what that figure assumes; null without
/// privacy. `clip`: the norm after them.
base::Json privacy_json(const Config& config, std::uint32_t rounds, std::optional<double> clip);

/// The same as one sentence; "" without privacy.
std::string privacy_text(const Config& config, std::uint32_t rounds);

}  // namespace ebb::fl
