// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trend/slope.h"

namespace ebb::trend {

/// What one series does, in numbers.
struct Assessment {
  std::size_t samples = 0;
  double span_seconds = 0;       ///< from the first sample to the last
  std::optional<double> period;  ///< seconds of a round, where the series shows or was told one
  double settled_seconds = 0;    ///< how much of the end is judged: after warm-up and steps
  double longest_hole = 0;       ///< seconds within that in which there was no sample
  std::size_t floors = 0;        ///< minima within that
  std::optional<Slope> slope;    ///< through them; nothing where they are too few
  std::optional<Slope> recent;   ///< through their second half: is it still so?
  std::optional<Slope> whole;    ///< through all minima, warm-up included

  /// What the slope amounts to over the settled part.
  double growth() const { return slope ? slope->end - slope->start : 0; }
};

/// How to take minima. The rates in docs/watch.md were measured with these defaults.
struct AssessOptions {
  /// Seconds, ascending. If there are at least `least_floors`, no rounds are guessed.
  std::span<const double> round_ends;
  std::size_t windows = 32;       ///< minima to aim at where there are no rounds
  std::size_t least_floors = 10;  ///< after warm-up; fewer are not judged
  std::size_t least_samples = 40;
  bool highest = false;  ///< maxima instead of minima: what the work reaches
  bool each = false;     ///< every point is a minimum already; `least_floors` of them are enough
};

/// Takes the minima (per round, else per window of at least one period), leaves out what lies
/// before the last change point (warm-up, steps), and fits a line to the rest.
Assessment assess(std::span<const Point> points, const AssessOptions& options = {});

/// What counts as movement over the settled part.
struct Effect {
  double least_share = 0.02;      ///< of the level
  double least_change = 1 << 20;  ///< in the series' own unit
};

/// It grows: the interval excludes zero, the growth is at least `effect`, and the second half still
/// grows at half the pace or more. A curve that flattens out (warm-up, ratchet) does not pass.
bool grows(const Assessment& assessment, const Effect& effect = {});

/// It is level or falls: the whole interval lies below `effect`, and it contains zero or the growth
/// is at most an eighth of `effect`. If neither this nor grows() holds, the data do not tell.
bool is_steady(const Assessment& assessment, const Effect& effect = {});

}  // namespace ebb::trend
