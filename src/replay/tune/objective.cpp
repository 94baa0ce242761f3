// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/objective.h"

namespace ebb::replay {

base::Result<Objective> parse_objective(std::string_view name) {
  if (name == "memory") return Objective::memory;
  if (name == "calls") return Objective::calls;
  if (name == "balanced") return Objective::balanced;
  return base::error(base::Code::bad_input, "objective '%.*s': expected memory, calls or balanced",
                     static_cast<int>(name.size()), name.data());
}

double cost_of(Objective objective, std::uint64_t peak_reserved, double call_seconds,
               double share) {
  const auto peak = static_cast<double>(peak_reserved);
  switch (objective) {
    case Objective::calls:
      return call_seconds;
    case Objective::balanced:
      return peak * (1 + share);
    case Objective::memory:
      break;
  }
  return peak;
}

}  // namespace ebb::replay
