// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The loops over a block's narrow sums. They have neither branches nor conversions between doubles
// and 64-bit integers, which processors without AVX-512 do one by one: compilers can turn them
// into vector instructions.

namespace ebb::sum {

/// sums[i] = values[i] * scale. False, with `sums` of no use, where one of the products is no
/// integer. Requires: doubles can hold every product, and none is 2^63 or more.
bool set_units(const double* values, std::size_t count, double scale, std::int64_t* sums);

/// sums[i] += values[i] * scale, modulo 2^64. False where one of the products is no integer:
/// take_units with the same values and scale then makes `sums` what they were. Requires: as above.
bool add_units(const double* values, std::size_t count, double scale, std::int64_t* sums);
void take_units(const double* values, std::size_t count, double scale, std::int64_t* sums);

/// into[i] = units[i] * scale / divisor; rounded to nearest are units[i] and the quotient.
/// Requires: scale is a power of two, and no product overflows or is subnormal.
void from_units(const std::int64_t* units, std::size_t count, double scale, double divisor,
                double* into);

}  // namespace ebb::sum
