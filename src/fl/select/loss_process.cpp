// SPDX-License-Identifier: Apache-2.0
#include "fl/select/loss_process.h"

#include <algorithm>
#include <cmath>

#include "fl/select/algebra.h"

namespace ebb::fl::select {
namespace {

/// Of the noise, as a part of the clients' mean variance.
constexpr double kNoise = 0.01;

}  // namespace

LossProcess::LossProcess(const std::vector<std::vector<double>>& changes,
                         std::span<const Client> clients)
    : rank_(changes.size()), embeddings_(clients.size() * rank_), posterior_(rank_ * rank_) {
  const auto rounds = static_cast<double>(rank_);
  double samples = 0;
  for (const Client& client : clients)
    samples += client.samples;
  std::vector<double> total(rank_);
  for (std::size_t id = 0; id < clients.size(); ++id) {
    double mean = 0;
    for (const std::vector<double>& change : changes)
      mean += change[id] / rounds;
    const double share = samples > 0 ? clients[id].samples / samples : 0;
    for (std::size_t r = 0; r < rank_; ++r) {
      const double value = (changes[r][id] - mean) / std::sqrt(rounds);
      embeddings_[id * rank_ + r] = value;
      total[r] += value * share;
    }
  }
  for (std::size_t id = 0; id < clients.size(); ++id) {
    variance_.push_back(dot(embedding(id), embedding(id)));
    covariance_.push_back(dot(embedding(id), total));
    noise_ += kNoise * variance_.back() / static_cast<double>(clients.size());
  }
  for (std::size_t r = 0; r < rank_; ++r)
    posterior_[r * rank_ + r] = 1;
}

double LossProcess::benefit(std::size_t client) const {
  return noise_ > 0 ? covariance_[client] / std::sqrt(variance_[client] + noise_) : 0;
}

void LossProcess::condition_on(std::size_t client) {
  if (!(noise_ > 0)) return;
  const double own = variance_[client] + noise_;
  const double with_all = covariance_[client];
  const std::vector<double> pull = apply(embedding(client));
  for (std::size_t id = 0; id < variance_.size(); ++id) {
    const double common = dot(embedding(id), pull);
    variance_[id] = std::max(0.0, variance_[id] - common * common / own);
    covariance_[id] -= common * with_all / own;
  }
  for (std::size_t r = 0; r < rank_; ++r)
    for (std::size_t c = 0; c < rank_; ++c)
      posterior_[r * rank_ + c] -= pull[r] * pull[c] / own;
}

std::span<const double> LossProcess::embedding(std::size_t client) const {
  return std::span(embeddings_).subspan(client * rank_, rank_);
}

std::vector<double> LossProcess::apply(std::span<const double> vector) const {
  std::vector<double> product(rank_);
  for (std::size_t r = 0; r < rank_; ++r)
    product[r] = dot(std::span(posterior_).subspan(r * rank_, rank_), vector);
  return product;
}

}  // namespace ebb::fl::select
