// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::sites {

// The arithmetic of sampling, without the mathematical library: it is not there in every job.

/// The natural logarithm of a positive number, to nine digits.
double natural_log(double x);

/// 1 - exp(-x) for x >= 0, to nine digits.
double chance(double x);

/// How likely an allocation of `size` bytes is to be sampled at 512 KiB << `shift`.
double chance_of(std::uint64_t size, unsigned shift);

/// What a sample of `size` bytes stands for: its size over its chance, so that sums over samples
/// are right on average whatever the distances were.
double weight_of(std::uint64_t size, unsigned shift);

/// Whether a sample that was taken at `shift` stays where the table is thinned to `thinned`: as
/// likely as if it had been sampled at that distance. `draw` is its own, of 24 bits.
bool stays(std::uint64_t size, unsigned shift, unsigned thinned, std::uint32_t draw);

/// xorshift64*: never zero, good enough for distances.
struct Random {
  std::uint64_t state;

  std::uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
  }
  /// In (0, 1].
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1.0p-53; }
};

/// Bytes until the next sample: exponential with a mean of 512 KiB << `shift`.
std::int64_t distance(Random& random, unsigned shift);

}  // namespace ebb::sites
