// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/privacy_lines.h"

#include "fl/privacy_spent.h"

namespace ebb::show {

std::vector<PrivacyLine> privacy_of(const SimulateOutcome& outcome) {
  std::vector<PrivacyLine> lines;
  for (const fl::MethodRuns& runs : outcome.methods) {
    if (runs.repeats.empty()) continue;
    // Seeds change nothing of it, and all of a method have come equally far, but the last perhaps.
    const fl::SimulationResult& first = runs.repeats.front();
    const std::string text = fl::privacy_text(first.config, fl::rounds_of(first));
    if (!text.empty()) lines.push_back({runs.method, text});
  }
  return lines;
}

}  // namespace ebb::show
