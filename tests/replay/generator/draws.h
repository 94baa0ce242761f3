// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace ebb::replay::generator {

/// Random numbers that are the same on every platform: splitmix64 and whole numbers only.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x51ED270B) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  /// From 0 to `count` - 1.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  /// From `low` to `high`, both possible.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  /// Mostly near `low`, seldom near `high`: as lengths of texts are.
  std::uint64_t skewed(std::uint64_t low, std::uint64_t high) {
    const std::uint64_t u = below(1 << 16);
    return low + ((high - low) * u * u * u >> 48);
  }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  /// With `percent` in a hundred.
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(from.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(i)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace ebb::replay::generator
