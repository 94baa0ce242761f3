// SPDX-License-Identifier: Apache-2.0
#include "sites/tally.h"

#include <bit>

#include "sites/layout.h"

namespace ebb::sites {
namespace {

constexpr double kLn2 = 0.693147180559945309417;

/// 2^n for -1000 <= n <= 1000.
double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}

}  // namespace

double natural_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa =
      std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | (std::uint64_t{1023} << 52));
  if (mantissa > 1.41421356) {
    mantissa /= 2;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)); the argument is at most 0.172.
  const double z = (mantissa - 1) / (mantissa + 1);
  const double square = z * z;
  double sum = 0;
  for (int i = 13; i >= 1; i -= 2)
    sum = sum * square + 1.0 / i;
  return 2 * z * sum + exponent * kLn2;
}

double chance(double x) {
  if (x > 40) return 1;
  // Where the difference would cancel, the series of the function itself.
  if (x < 0.25) {
    double sum = 0;
    for (int i = 10; i >= 1; --i)
      sum = x / i * (1 - sum);
    return sum;
  }
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): x is positive, and nothing is linked
  const int halvings = static_cast<int>(x / kLn2 + 0.5);
  const double rest = x - halvings * kLn2;
  double sum = 1;
  for (int i = 13; i >= 1; --i)
    sum = 1 - rest / i * sum;
  return 1 - sum * power_of_two(-halvings);
}

double chance_of(std::uint64_t size, unsigned shift) {
  return chance(static_cast<double>(size) / static_cast<double>(kBaseDistance << shift));
}

double weight_of(std::uint64_t size, unsigned shift) {
  return size == 0 ? 0 : static_cast<double>(size) / chance_of(size, shift);
}

bool stays(std::uint64_t size, unsigned shift, unsigned thinned, std::uint32_t draw) {
  if (thinned <= shift) return true;
  return static_cast<double>(draw) * 0x1.0p-24 < chance_of(size, thinned) / chance_of(size, shift);
}

std::int64_t distance(Random& random, unsigned shift) {
  const double bytes = -natural_log(random.uniform()) * static_cast<double>(kBaseDistance << shift);
  return static_cast<std::int64_t>(bytes) + 1;
}

}  // namespace ebb::sites
