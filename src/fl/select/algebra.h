// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fl/random.h"

namespace ebb::fl::select {

/// Requires: the same length.
double dot(std::span<const double> a, std::span<const double> b);

/// Scales to length 1, so that dot() is the cosine; all 0 where it has no direction.
void make_unit(std::span<double> vector);

/// The cluster of each of the points that stand one after the other in `points`: k-means from
/// k-means++ (Arthur and Vassilvitskii 2007). Requires: dimensions > 0, clusters > 0.
std::vector<std::uint32_t> k_means(std::span<const double> points, std::size_t dimensions,
                                   std::size_t clusters, Random& random);

/// Ridge regression that knows how sure it is: Bayesian linear regression of rewards on contexts.
class LinearModel {
 public:
  struct Prediction {
    double mean = 0;
    double deviation = 0;  ///< of the mean, where rewards have variance 1
  };

  LinearModel(std::size_t dimensions, double ridge);
  /// From what precision() and moments() gave. Requires: moments.size() squared numbers in
  /// `precision`.
  LinearModel(std::vector<double> precision, std::vector<double> moments);

  void add(std::span<const double> context, double reward);

  /// To be called between add() and predict(). False where the precision is not positive definite,
  /// which add() alone never leads to.
  bool fit();
  Prediction predict(std::span<const double> context) const;

  const std::vector<double>& precision() const { return precision_; }
  const std::vector<double>& moments() const { return moments_; }

 private:
  std::size_t size_;
  std::vector<double> precision_;  ///< ridge and the sum of outer products, by rows
  std::vector<double> moments_;    ///< the sum of rewards times contexts
  std::vector<double> root_;       ///< Cholesky's lower triangle of the precision
  std::vector<double> weights_;
};

}  // namespace ebb::fl::select
