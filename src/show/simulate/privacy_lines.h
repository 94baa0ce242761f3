// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "show/simulate/outcome.h"

namespace ebb::show {

/// The privacy that a method has spent, or why that is not known.
struct PrivacyLine {
  std::string method;
  std::string text;
};

/// One for each method; none without privacy.
std::vector<PrivacyLine> privacy_of(const SimulateOutcome& outcome);

}  // namespace ebb::show
