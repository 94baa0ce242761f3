// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ebb::fl {

/// What random numbers are drawn for. Each purpose has its own stream, so that drawing more for
/// one never changes another. The numbers are part of every result: never reuse or reorder them.
enum class Purpose : std::uint32_t {
  initial_weights = 1,
  partition = 2,
  world = 3,
  channel = 4,
  dropout = 5,
  sample_order = 6,
  augmentation = 7,
  selection = 8,
  privacy_noise = 9,
  synthetic_data = 10,
  workflow = 11,
  sketch = 12,
  dropout_mask = 13,
  privacy_count = 14,
  shared_samples = 15,
  candidates = 16,
};

/// What a purpose's stream and its place in it are scrambled with.
using RandomKey = std::array<std::uint32_t, 2>;
RandomKey random_key(std::uint64_t seed, Purpose purpose);

/// Four random numbers, of a counter and a key alone (Philox 4x32-10, Salmon et al. 2011), for who
/// wants those of any place. The second half of the counter is {round, client} everywhere.
std::array<std::uint32_t, 4> random_block(std::array<std::uint32_t, 4> counter, RandomKey key);

/// Its constants, for who computes many blocks at a time.
inline constexpr int kRandomRounds = 10;
inline constexpr std::uint32_t kRandomFactors[2] = {0xd2511f53, 0xcd9e8d57};
inline constexpr std::uint32_t kRandomKeySteps[2] = {0x9e3779b9, 0xbb67ae85};

/// Random numbers from a counter, block by block: the stream is decided by
/// seed, purpose, round and client, whoever draws it, when and on which thread. The distributions
/// are our own, so that no library's version changes a result. Not thread-safe.
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::uint32_t round = 0, std::uint32_t client = 0);

  std::uint32_t bits();
  std::uint64_t bits64();
  /// In [0, 1).
  double uniform();
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  /// In [0, bound), each equally likely. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Of mean 0 and variance 1.
  double normal();
  double lognormal(double mu, double sigma);
  /// Of the given shape and scale 1. Requires: shape > 0.
  double gamma(double shape);
  /// `count` shares that add up to 1, from the symmetric Dirichlet distribution.
  std::vector<double> dirichlet(double alpha, std::size_t count);
  /// An index with probability in proportion to its weight; the last one that has any where
  /// rounding leaves none. Requires: no weight negative, one positive.
  std::size_t weighted(std::span<const double> weights);
  /// `count` of the numbers below `bound`, each set equally likely, in random order.
  /// Requires: count <= bound.
  std::vector<std::uint32_t> sample(std::uint32_t bound, std::uint32_t count);

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

 private:
  void refill();
  std::vector<std::uint32_t> sparse_sample(std::uint32_t bound, std::uint32_t count);

  RandomKey key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace ebb::fl
