// SPDX-License-Identifier: Apache-2.0
#include "fl/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>

#include "base/check.h"

namespace ebb::fl {
namespace {

/// A sample of less than this part is drawn without a list of everything.
constexpr std::uint32_t kSparse = 16;

/// Spreads a seed over 64 bits (the finaliser of SplitMix64), so that seeds 1, 2, 3 share nothing.
std::uint64_t spread(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

RandomKey random_key(std::uint64_t seed, Purpose purpose) {
  const std::uint64_t key = spread(spread(seed) ^ static_cast<std::uint64_t>(purpose));
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

std::array<std::uint32_t, 4> random_block(std::array<std::uint32_t, 4> counter, RandomKey key) {
  for (int round = 0; round < kRandomRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kRandomFactors[0]} * counter[0];
    const std::uint64_t second = std::uint64_t{kRandomFactors[1]} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key[0] += kRandomKeySteps[0];
    key[1] += kRandomKeySteps[1];
  }
  return counter;
}

Random::Random(std::uint64_t seed, Purpose purpose, std::uint32_t round, std::uint32_t client) {
  key_ = random_key(seed, purpose);
  // The first half counts blocks, the second says whose they are.
  counter_ = {0, 0, round, client};
}

void Random::refill() {
  block_ = random_block(counter_, key_);
  if (++counter_[0] == 0) ++counter_[1];
  used_ = 0;
}

std::uint32_t Random::bits() {
  if (used_ == block_.size()) refill();
  return block_[used_++];
}

std::uint64_t Random::bits64() {
  const std::uint64_t high = bits();
  return high << 32 | bits();
}

double Random::uniform() {
  return static_cast<double>(bits64() >> 11) * 0x1p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  EBB_CHECK(bound > 0);
  // What lies above the last whole multiple of `bound` would favour small numbers.
  const std::uint64_t unfair = (std::uint64_t{0} - bound) % bound;
  std::uint64_t drawn = bits64();
  while (drawn < unfair)
    drawn = bits64();
  return drawn % bound;
}

double Random::normal() {
  // Box and Muller; the second value is not kept, so that a stream has no hidden state.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::lognormal(double mu, double sigma) {
  return std::exp(mu + sigma * normal());
}

double Random::gamma(double shape) {
  EBB_CHECK(shape > 0);
  // Marsaglia and Tsang 2000; below 1 by their boost from shape + 1.
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<double> Random::dirichlet(double alpha, std::size_t count) {
  std::vector<double> shares(count);
  for (double& share : shares)
    share = gamma(alpha);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!(sum > 0)) {
    // Every draw fell below the smallest double: the limit of small alpha is one who has all.
    shares.assign(count, 0);
    shares[below(count)] = 1;
    return shares;
  }
  for (double& share : shares)
    share /= sum;
  return shares;
}

std::size_t Random::weighted(std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  EBB_CHECK(sum > 0);
  double left = uniform() * sum;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  return last;
}

std::vector<std::uint32_t> Random::sparse_sample(std::uint32_t bound, std::uint32_t count) {
  // The same swaps, of which only the places that were touched are remembered.
  std::unordered_map<std::uint32_t, std::uint32_t> moved;
  const auto at = [&](std::uint32_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<std::uint32_t> drawn;
  drawn.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto place = i + static_cast<std::uint32_t>(below(bound - i));
    drawn.push_back(at(place));
    moved[place] = at(i);
  }
  return drawn;
}

std::vector<std::uint32_t> Random::sample(std::uint32_t bound, std::uint32_t count) {
  EBB_CHECK(count <= bound);
  if (bound > kSparse && count < bound / kSparse) return sparse_sample(bound, count);
  std::vector<std::uint32_t> all(bound);
  std::iota(all.begin(), all.end(), 0U);
  for (std::uint32_t i = 0; i < count; ++i)
    std::swap(all[i], all[i + below(bound - i)]);
  all.resize(count);
  return all;
}

}  // namespace ebb::fl
