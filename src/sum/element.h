// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

// sum: weighted means of tensors that come out the same, bit for bit, in whatever order they are
// added.

namespace ebb::sum {

/// What a tensor is made of. The numbers are part of the C interface.
enum class ElementType : std::uint8_t {
  float32 = 1,
  float64 = 2,
  float16 = 3,
  bfloat16 = 4,
  int8 = 5,
  int16 = 6,
  int32 = 7,
  int64 = 8,
  uint8 = 9,
};

/// Code::bad_input for anything else.
base::Result<ElementType> element_type_from(int number);

std::size_t size_of(ElementType type);

/// The most significant bits that an element can have.
int significant_bits(ElementType type);

/// Elements `first` to `first + count` of a tensor as doubles, each exact. An int64 beyond 2^53 is
/// not exact: first_unusable finds those, as it finds infinities and what is no number.
void load(ElementType type, const void* values, std::size_t first, std::size_t count, double* into);

/// Doubles into a tensor of floats, each rounded once, to nearest. Requires: a floating-point type.
void store(ElementType type, const double* from, std::size_t count, void* values,
           std::size_t first);

/// Whether all elements of a tensor are finite and doubles can hold them, found out at the speed of
/// memory. False for any int64: first_unusable knows those.
bool all_finite(ElementType type, std::size_t elements, const void* values);

/// The largest magnitude of `count` elements from `first` on, which `loaded` has as doubles; 0
/// where there are none. Infinity or no number where one of them cannot be summed exactly.
double largest_magnitude(ElementType type, const void* values, std::size_t first, std::size_t count,
                         const double* loaded);

/// The index of the first of `count` elements that cannot be summed exactly, or `count`.
std::size_t first_unusable(ElementType type, const double* values, std::size_t count);

}  // namespace ebb::sum
