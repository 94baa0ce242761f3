// SPDX-License-Identifier: Apache-2.0
#include "sum/narrow.h"

#include <bit>

#include "sum/widest.h"

namespace ebb::sum {
namespace {

// A double near one of these has a last bit worth 1 or 2^32: adding it rounds to that, and the
// difference between the bits of the two is the number of such units.
constexpr double kOnes = 0x1.8p52;
constexpr double kUpper = 0x1.8p84;
constexpr int kUpperBits = 32;

constexpr std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// What the two add up to for 0.
constexpr std::uint64_t kNothing = (bits_of(kUpper) << kUpperBits) + bits_of(kOnes);

/// sums[i] = changed(sums[i], values[i] * scale); whether the products are integers.
template <class Changed>
EBB_IN_WIDEST inline bool change(const double* values, std::size_t count, double scale,
                                 std::int64_t* sums, Changed changed) {
  std::uint64_t inexact = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double product = values[i] * scale;
    const double upper = product + kUpper;
    const double rest = product - (upper - kUpper);  // exact, at most 2^32
    const double ones = rest + kOnes;
    inexact |= bits_of((ones - kOnes) - rest);
    const std::uint64_t units = (bits_of(upper) << kUpperBits) + bits_of(ones) - kNothing;
    sums[i] = static_cast<std::int64_t>(changed(static_cast<std::uint64_t>(sums[i]), units));
  }
  return inexact == 0;
}

}  // namespace

bool set_units(const double* values, std::size_t count, double scale, std::int64_t* sums) {
  return in_widest([=]() EBB_IN_WIDEST {
    return change(values, count, scale, sums,
                  [](std::uint64_t, std::uint64_t by) EBB_IN_WIDEST { return by; });
  });
}

bool add_units(const double* values, std::size_t count, double scale, std::int64_t* sums) {
  return in_widest([=]() EBB_IN_WIDEST {
    return change(values, count, scale, sums,
                  [](std::uint64_t sum, std::uint64_t by) EBB_IN_WIDEST { return sum + by; });
  });
}

void take_units(const double* values, std::size_t count, double scale, std::int64_t* sums) {
  in_widest([=]() EBB_IN_WIDEST {
    return change(values, count, scale, sums,
                  [](std::uint64_t sum, std::uint64_t by) EBB_IN_WIDEST { return sum - by; });
  });
}

// Not in wide vectors: divisions are most of it, and they divide no faster.
void from_units(const std::int64_t* units, std::size_t count, double scale, double divisor,
                double* into) {
  constexpr std::uint64_t kLowerMask = (1ULL << kUpperBits) - 1;
  constexpr std::uint64_t kSign = 1ULL << 31U;  // the upper half's, so that it is never negative
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint64_t>(units[i]);
    const double upper = std::bit_cast<double>(bits_of(0x1p84) | ((bits >> kUpperBits) ^ kSign));
    const double lower = std::bit_cast<double>(bits_of(0x1p52) | (bits & kLowerMask));
    // Exact up to the last addition, which rounds.
    into[i] = ((upper - (0x1p84 + 0x1p63 + 0x1p52)) + lower) * scale / divisor;
  }
}

}  // namespace ebb::sum
