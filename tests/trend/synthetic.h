// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "trend/series.h"

namespace ebb::trend::synthetic {

/// Normal numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  /// From 0 to 1, both excluded.
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) / 9007199254740992.0; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 bits_;
};

inline constexpr double kLevel = 1 << 30;  ///< a process of 1 GiB
inline constexpr std::size_t kSamples = 240;

/// One value per second for four minutes, `at` giving each of them.
inline std::vector<Point> series(const std::function<double(std::size_t)>& at) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < kSamples; ++i)
    points.push_back({static_cast<double>(i), at(i)});
  return points;
}

/// Noise of one percent of the level whose neighbours resemble each other by `rho`.
inline std::vector<double> noise(Random& random, double rho) {
  std::vector<double> values;
  double value = random.normal();
  for (std::size_t i = 0; i < kSamples; ++i) {
    values.push_back(0.01 * kLevel * value);
    value = rho * value + std::sqrt(1 - rho * rho) * random.normal();
  }
  return values;
}

inline double share_of_run(std::size_t i) {
  return static_cast<double>(i) / static_cast<double>(kSamples - 1);
}

inline std::vector<Point> flat(Random& random, double rho) {
  const auto around = noise(random, rho);
  return series([&](std::size_t i) { return kLevel + around[i]; });
}

/// Rounds of about `length` seconds that take 40 % more and give it back; their lengths vary.
inline std::vector<Point> sawtooth(Random& random, double length, double leak = 0) {
  const auto around = noise(random, 0.5);
  double phase = random.uniform();
  double step = 1 / length;
  return series([&](std::size_t i) {
    phase += step;
    if (phase >= 1) {
      phase -= 1;
      step = 1 / (length * (0.9 + 0.2 * random.uniform()));
    }
    return kLevel * (1 + 0.4 * phase + leak * share_of_run(i)) + around[i] / 4;
  });
}

/// Half of the level is there at first, the rest comes ever more slowly.
inline std::vector<Point> warm_up(Random& random, double leak = 0) {
  const auto around = noise(random, 0.5);
  const double pace = 10 + 20 * random.uniform();
  return series([&](std::size_t i) {
    return kLevel * (1 - 0.5 * std::exp(-static_cast<double>(i) / pace) + leak * share_of_run(i)) +
           around[i] / 2;
  });
}

inline std::vector<Point> leaking(Random& random, double rho, double leak) {
  const auto around = noise(random, rho);
  return series([&](std::size_t i) { return kLevel * (1 + leak * share_of_run(i)) + around[i]; });
}

/// One fifth more from some moment on.
inline std::vector<Point> step(Random& random) {
  const auto around = noise(random, 0.5);
  const double when = 0.1 + 0.8 * random.uniform();
  return series(
      [&](std::size_t i) { return kLevel * (share_of_run(i) >= when ? 1.2 : 1.0) + around[i]; });
}

/// An allocator that keeps the most it ever needed.
inline std::vector<Point> ratchet(Random& random) {
  const auto around = noise(random, 0.9);
  double highest = 0;
  return series([&](std::size_t i) {
    highest = std::max(highest, 5 * around[i]);
    return kLevel + highest;
  });
}

inline std::vector<Point> random_walk(Random& random) {
  double place = 0;
  return series([&](std::size_t) { return kLevel + (place += 0.004 * kLevel * random.normal()); });
}

/// It grows by a fifth in sixteen jumps.
inline std::vector<Point> staircase_leak(Random& random) {
  const auto around = noise(random, 0.5);
  const double phase = random.uniform();
  return series([&](std::size_t i) {
    return kLevel * (1 + 0.0125 * std::floor(16 * share_of_run(i) + phase)) + around[i] / 4;
  });
}

}  // namespace ebb::trend::synthetic
