// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "fl/random.h"
#include "fl/select/context.h"

namespace ebb::fl::select {

/// A network of two hidden layers (tanh) that learns one number from a Context.
class Perceptron {
 public:
  static constexpr std::size_t kInputs = std::tuple_size_v<Context>;
  static constexpr std::size_t kWidth = 16;
  static constexpr std::size_t kWeights =
      kWidth * (kInputs + 1) + kWidth * (kWidth + 1) + kWidth + 1;

  /// The second hidden layer, and 1.
  using Features = std::array<double, kWidth + 1>;

  explicit Perceptron(Random& random);
  /// Requires: kWeights of them.
  explicit Perceptron(std::vector<double> weights) : weights_(std::move(weights)) {}

  Features features(const Context& context) const;

  /// Least squares by Adam in batches; `targets` should be of the order of 1.
  void train(std::span<const Context> contexts, std::span<const double> targets, int passes,
             Random& random);

  const std::vector<double>& weights() const { return weights_; }

 private:
  using Layer = std::array<double, kWidth>;

  void forward(const Context& context, Layer& first, Layer& second) const;
  void add_gradient(const Context& context, double target, std::span<double> gradient) const;

  std::vector<double> weights_;  ///< layer by layer: for each unit its weights, then its bias
};

}  // namespace ebb::fl::select
