// SPDX-License-Identifier: Apache-2.0
#include "fl/select/algebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ebb::fl::select {
namespace {

constexpr int kMostRefinements = 20;

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void make_unit(std::span<double> vector) {
  const double length = std::sqrt(dot(vector, vector));
  const bool directed = std::isfinite(length) && length > 0;
  for (double& value : vector)
    value = directed ? value / length : 0;
}

std::vector<std::uint32_t> k_means(std::span<const double> points, std::size_t dimensions,
                                   std::size_t clusters, Random& random) {
  const std::size_t count = points.size() / dimensions;
  const auto point = [&](std::size_t i) { return points.subspan(i * dimensions, dimensions); };
  std::vector<std::uint32_t> cluster(count);
  if (count == 0) return cluster;

  std::vector<std::vector<double>> centres;
  std::vector<double> distance(count, 1);
  while (centres.size() < clusters) {
    const auto centre = point(random.weighted(distance));
    centres.emplace_back(centre.begin(), centre.end());
    for (std::size_t i = 0; i < count; ++i) {
      const double now = squared_distance(point(i), centre);
      distance[i] = centres.size() == 1 ? now : std::min(distance[i], now);
    }
    if (std::accumulate(distance.begin(), distance.end(), 0.0) <= 0) break;
  }

  for (int refinement = 0; refinement < kMostRefinements; ++refinement) {
    bool moved = false;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t nearest = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::uint32_t c = 0; c < centres.size(); ++c) {
        const double now = squared_distance(point(i), centres[c]);
        if (now < least) {
          least = now;
          nearest = c;
        }
      }
      moved |= cluster[i] != nearest;
      cluster[i] = nearest;
    }
    if (!moved) break;
    std::vector<std::size_t> sizes(centres.size());
    std::vector<std::vector<double>> sums(centres.size(), std::vector<double>(dimensions));
    for (std::size_t i = 0; i < count; ++i) {
      ++sizes[cluster[i]];
      for (std::size_t d = 0; d < dimensions; ++d)
        sums[cluster[i]][d] += point(i)[d];
    }
    for (std::size_t c = 0; c < centres.size(); ++c)
      for (std::size_t d = 0; d < dimensions && sizes[c] > 0; ++d)
        centres[c][d] = sums[c][d] / static_cast<double>(sizes[c]);
  }
  return cluster;
}

LinearModel::LinearModel(std::size_t dimensions, double ridge)
    : size_(dimensions), precision_(dimensions * dimensions), moments_(dimensions) {
  for (std::size_t i = 0; i < size_; ++i)
    precision_[i * size_ + i] = ridge;
}

LinearModel::LinearModel(std::vector<double> precision, std::vector<double> moments)
    : size_(moments.size()), precision_(std::move(precision)), moments_(std::move(moments)) {}

void LinearModel::add(std::span<const double> context, double reward) {
  for (std::size_t i = 0; i < size_; ++i) {
    moments_[i] += reward * context[i];
    for (std::size_t j = 0; j < size_; ++j)
      precision_[i * size_ + j] += context[i] * context[j];
  }
}

bool LinearModel::fit() {
  root_.assign(size_ * size_, 0);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = precision_[i * size_ + j];
      for (std::size_t k = 0; k < j; ++k)
        rest -= root_[i * size_ + k] * root_[j * size_ + k];
      if (i == j && !(rest > 0)) return false;
      root_[i * size_ + j] = i == j ? std::sqrt(rest) : rest / root_[j * size_ + j];
    }
  }
  weights_ = moments_;
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      weights_[i] -= root_[i * size_ + k] * weights_[k];
    weights_[i] /= root_[i * size_ + i];
  }
  for (std::size_t i = size_; i-- > 0;) {
    for (std::size_t k = i + 1; k < size_; ++k)
      weights_[i] -= root_[k * size_ + i] * weights_[k];
    weights_[i] /= root_[i * size_ + i];
  }
  return true;
}

LinearModel::Prediction LinearModel::predict(std::span<const double> context) const {
  std::vector<double> whitened(context.begin(), context.end());
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      whitened[i] -= root_[i * size_ + k] * whitened[k];
    whitened[i] /= root_[i * size_ + i];
  }
  return {dot(context, weights_), std::sqrt(dot(whitened, whitened))};
}

}  // namespace ebb::fl::select
