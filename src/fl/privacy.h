// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// Differential privacy of the clients (McMahan et al. 2018): each update is cut to `clip` in
/// Euclidean norm, and noise of `noise` times that is added to their sum.
struct PrivacyOptions {
  double clip = 0;  ///< 0: off
  double noise = 0;
  double delta = 1e-5;

  bool on() const { return clip > 0; }
};

/// The privacy spent by rounds of the sampled Gaussian mechanism, by Rényi divergences at integer
/// orders (Mironov, Talwar, Zhang 2019).
class RenyiAccountant {
 public:
  RenyiAccountant();

  /// One more round in which each client took part with probability `share`, under noise of
  /// `noise` times the sensitivity. Requires: 0 < share <= 1, noise > 0.
  void add_round(double share, double noise);

  /// Epsilon so that everything until now is (epsilon, delta)-private; 0 before the first round.
  double epsilon(double delta) const;

  /// The divergences, for a checkpoint.
  const std::vector<double>& divergences() const { return divergences_; }
  /// Code::bad_input where it is not what divergences() gives.
  base::Status restore(std::span<const double> divergences);

 private:
  std::vector<double> divergences_;  ///< at each order
};

/// The factor (at most 1) that brings an update of Euclidean norm `norm` to `clip`.
double clip_factor(double norm, double clip);

/// Code::bad_input where an option is out of its range.
base::Status check(const PrivacyOptions& options);

}  // namespace ebb::fl
