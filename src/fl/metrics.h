// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ebb::fl {

/// What a model made of labelled samples, added up: parts of a set can be evaluated apart.
struct Evaluation {
  std::uint32_t classes = 0;
  std::vector<std::uint64_t> confusion;  ///< [true class * classes + predicted class]
  double loss_sum = 0;
  std::uint64_t samples = 0;

  explicit Evaluation(std::uint32_t class_count)
      : classes(class_count), confusion(std::size_t{class_count} * class_count) {}

  void add(const Evaluation& other);
  std::uint64_t right() const;  ///< samples that it told the class of
  double accuracy() const;
  double loss() const;  ///< mean
};

/// Unweighted means over the classes; a class that was never predicted has precision 0, one that
/// never occurs recall 0.
struct MacroScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};
MacroScores macro_scores(const Evaluation& evaluation);

/// How evenly clients took part.
struct Participation {
  double gini = 0;      ///< 0 all alike, towards 1 few take all
  double entropy = 0;   ///< of the shares, over that of equal ones; 1 all alike
  double variance = 0;  ///< of the counts
};
Participation participation_of(std::span<const std::uint32_t> counts);

}  // namespace ebb::fl
