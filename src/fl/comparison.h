// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "fl/simulation.h"
#include "fl/statistics.h"

namespace ebb::fl {

// What several simulations say together. All functions are pure.

/// One method, simulated once per seed; all methods of a comparison have the same seeds in the same
/// order.
struct MethodRuns {
  std::string method;
  std::vector<SimulationResult> repeats;
};

/// The last evaluation of a simulation: that of the untrained model where no round had one, nothing
/// where there was none at all.
std::optional<Scores> final_scores(const SimulationResult& result);

/// Simulated seconds until the accuracy first was 50, 80 and 90 % of the final one.
struct Milestones {
  std::optional<double> half;
  std::optional<double> four_fifths;
  std::optional<double> nine_tenths;
};
Milestones milestones_of(const SimulationResult& result);

/// One round over the repeats that came to it.
struct RoundBand {
  std::uint32_t round = 0;
  std::optional<Band> accuracy;  ///< where the round was evaluated
  std::optional<Band> loss;
  std::optional<Band> rss;       ///< where it is known
  double simulated_seconds = 0;  ///< the mean
};
std::vector<RoundBand> bands_of(std::span<const SimulationResult> repeats);

/// How often each client took part.
std::vector<std::uint32_t> participations_of(const SimulationResult& result);

/// A method's place.
struct Ranked {
  std::size_t index = 0;  ///< in what was ranked
  Band accuracy;          ///< the final ones
  /// Its final accuracies minus the best method's, seed by seed; nothing for the best itself and
  /// where there are fewer than two repeats.
  std::optional<PairedTest> against_best;
};
/// The best mean of final accuracies first; equal ones in their order. A method without an
/// evaluation comes last, with 0.
std::vector<Ranked> ranking_of(std::span<const MethodRuns> methods);

base::Json to_json(const Band& band);
base::Json to_json(const PairedTest& test);
base::Json to_json(const Milestones& milestones);
base::Json to_json(const RoundBand& band);
/// As to_json of its first repeat, with `method`, `time_to_accuracy`, `bands` over all repeats and
/// `repeats`: the others. Requires: a repeat.
base::Json to_json(const MethodRuns& runs);
/// `ranking` of the JSON of a comparison.
base::Json to_json(std::span<const Ranked> ranking, std::span<const MethodRuns> methods);

}  // namespace ebb::fl
