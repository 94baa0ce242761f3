// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "fl/privacy.h"

namespace ebb::fl {

/// The privacy spent by rounds of the sampled Gaussian mechanism, by Rényi divergences at the
/// integer orders from 2 to 256: upper bounds. What one client can change of the sum decides what a
/// figure is worth, and which theorem holds follows from how clients are drawn:
///
/// - Sampling::poisson: neighbours have one client more or less (Mironov, Talwar, Zhang 2019).
/// - Sampling::fixed: one client is replaced by another, which moves a sum of updates of norm 1 by
///   up to 2 (Wang, Balle, Kasiviswanathan 2019, theorem 27).
///
/// Neither holds where who is chosen depends on the clients' data.
class RenyiAccountant {
 public:
  /// In a round each client takes part with probability `share`, under noise of `noise` times the
  /// norm of updates. Requires: 0 < share <= 1, noise > 0.
  RenyiAccountant(Sampling sampling, double share, double noise);

  /// Epsilon so that `rounds` of them are (epsilon, delta)-private; 0 before the first.
  double epsilon(std::uint32_t rounds, double delta) const;

  /// The divergences of one round, from order 2 on.
  const std::vector<double>& divergences() const { return divergences_; }

 private:
  std::vector<double> divergences_;
};

}  // namespace ebb::fl
