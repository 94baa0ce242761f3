// SPDX-License-Identifier: Apache-2.0
#include "fl/select/perceptron.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ebb::fl::select {
namespace {

constexpr std::size_t kSecond = Perceptron::kWidth * (Perceptron::kInputs + 1);
constexpr std::size_t kLast = kSecond + Perceptron::kWidth * (Perceptron::kWidth + 1);
constexpr std::size_t kBatch = 32;
constexpr double kLearningRate = 0.01;

template <std::size_t Size>
double unit(const double* weights, const std::array<double, Size>& inputs) {
  return std::inner_product(inputs.begin(), inputs.end(), weights, weights[Size]);
}

template <std::size_t Size>
void add_unit_gradient(double* gradient, const std::array<double, Size>& inputs, double slope) {
  for (std::size_t i = 0; i < Size; ++i)
    gradient[i] += slope * inputs[i];
  gradient[Size] += slope;
}

}  // namespace

Perceptron::Perceptron(Random& random) : weights_(kWeights) {
  for (std::size_t i = 0; i < kWeights; ++i) {
    const std::size_t inputs = i < kSecond ? kInputs : kWidth;
    weights_[i] = random.normal() / std::sqrt(static_cast<double>(inputs));
  }
}

void Perceptron::forward(const Context& context, Layer& first, Layer& second) const {
  for (std::size_t i = 0; i < kWidth; ++i)
    first[i] = std::tanh(unit(&weights_[i * (kInputs + 1)], context));
  for (std::size_t i = 0; i < kWidth; ++i)
    second[i] = std::tanh(unit(&weights_[kSecond + i * (kWidth + 1)], first));
}

Perceptron::Features Perceptron::features(const Context& context) const {
  Layer first;
  Layer second;
  forward(context, first, second);
  Features features;
  std::copy(second.begin(), second.end(), features.begin());
  features.back() = 1;
  return features;
}

void Perceptron::add_gradient(const Context& context, double target,
                              std::span<double> gradient) const {
  Layer first;
  Layer second;
  forward(context, first, second);
  const double error = unit(&weights_[kLast], second) - target;
  add_unit_gradient(&gradient[kLast], second, error);
  Layer slopes{};
  for (std::size_t i = 0; i < kWidth; ++i) {
    const double slope = error * weights_[kLast + i] * (1 - second[i] * second[i]);
    const std::size_t at = kSecond + i * (kWidth + 1);
    add_unit_gradient(&gradient[at], first, slope);
    for (std::size_t j = 0; j < kWidth; ++j)
      slopes[j] += slope * weights_[at + j] * (1 - first[j] * first[j]);
  }
  for (std::size_t i = 0; i < kWidth; ++i)
    add_unit_gradient(&gradient[i * (kInputs + 1)], context, slopes[i]);
}

void Perceptron::train(std::span<const Context> contexts, std::span<const double> targets,
                       int passes, Random& random) {
  std::vector<double> mean(kWeights);
  std::vector<double> square(kWeights);
  std::vector<std::size_t> order(contexts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double mean_left = 1;
  double square_left = 1;
  for (int pass = 0; pass < passes; ++pass) {
    random.shuffle(std::span(order));
    for (std::size_t from = 0; from < order.size(); from += kBatch) {
      const std::size_t to = std::min(order.size(), from + kBatch);
      std::vector<double> gradient(kWeights);
      for (std::size_t i = from; i < to; ++i)
        add_gradient(contexts[order[i]], targets[order[i]], gradient);
      mean_left *= 0.9;
      square_left *= 0.999;
      for (std::size_t i = 0; i < kWeights; ++i) {
        const double slope = gradient[i] / static_cast<double>(to - from);
        mean[i] += 0.1 * (slope - mean[i]);
        square[i] += 0.001 * (slope * slope - square[i]);
        weights_[i] -= kLearningRate * (mean[i] / (1 - mean_left)) /
                       (std::sqrt(square[i] / (1 - square_left)) + 1e-8);
      }
    }
  }
}

}  // namespace ebb::fl::select
