// SPDX-License-Identifier: Apache-2.0
#include "sum/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sum/widest.h"

namespace ebb::sum {
namespace {

/// A 16-bit float: bits of mantissa without the leading one, and of exponent.
struct SmallFloat {
  int mantissa;
  int exponent;

  int bias() const { return (1 << (exponent - 1)) - 1; }
};

constexpr SmallFloat kHalf{10, 5};
constexpr SmallFloat kBrain{7, 8};

double widened(SmallFloat format, std::uint16_t bits) {
  const int field = (bits >> format.mantissa) & ((1 << format.exponent) - 1);
  const int fraction = bits & ((1 << format.mantissa) - 1);
  double magnitude = 0;
  if (field == (1 << format.exponent) - 1) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias() - format.mantissa);
  } else {
    magnitude =
        std::ldexp(fraction | (1 << format.mantissa), field - format.bias() - format.mantissa);
  }
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

std::uint16_t narrowed(SmallFloat format, double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
  const auto infinity = static_cast<std::uint32_t>(((1 << format.exponent) - 1) << format.mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | 1U);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  const int smallest = 1 - format.bias();  // exponent of the smallest normal number
  const int exponent =
      std::isinf(magnitude) ? format.bias() + 1 : std::max(std::ilogb(magnitude), smallest);
  if (exponent > format.bias()) return static_cast<std::uint16_t>(sign | infinity);
  // In units of the last place, rounded to nearest even; a carry moves into the exponent by itself.
  const auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa - exponent)));
  const auto field = static_cast<std::uint32_t>(exponent - smallest) << format.mantissa;
  return static_cast<std::uint16_t>(sign | std::min(field + units, infinity));
}

template <class T>
void load_as(const void* values, std::size_t first, std::size_t count, double* into) {
  const char* from = static_cast<const char*>(values) + first * sizeof(T);
  in_widest([=]() EBB_IN_WIDEST {
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof value);
      into[i] = static_cast<double>(value);
    }
  });
}

void load_small(SmallFloat format, const void* values, std::size_t first, std::size_t count,
                double* into) {
  const char* from = static_cast<const char*>(values) + first * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    into[i] = widened(format, bits);
  }
}

template <class T>
void store_as(const double* from, std::size_t count, void* values, std::size_t first) {
  char* into = static_cast<char*>(values) + first * sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(from[i]);
    std::memcpy(into + i * sizeof(T), &value, sizeof value);
  }
}

void store_small(SmallFloat format, const double* from, std::size_t count, void* values,
                 std::size_t first) {
  char* into = static_cast<char*>(values) + first * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = narrowed(format, from[i]);
    std::memcpy(into + i * sizeof bits, &bits, sizeof bits);
  }
}

/// Whether no float has the largest exponent, that of infinities and of what is no number. `Bits`
/// is an unsigned integer of the float's size.
template <class Bits>
bool no_exponent_is(Bits largest, std::size_t count, const void* values) {
  const char* from = static_cast<const char*>(values);
  const Bits lowest_of_exponent = largest & (~largest + 1);
  const Bits any = in_widest([=]() EBB_IN_WIDEST {
    Bits all = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
      // Carries into the sign's place from the largest exponent only.
      all = static_cast<Bits>(all | ((bits & largest) + lowest_of_exponent));
    }
    return all;
  });
  return any <= largest + (lowest_of_exponent - 1);
}

/// The largest of the floats' bits without their signs, which are in the order of the magnitudes:
/// first the finite, then infinity, then what is no number. `Bits` is a signed integer of the
/// float's size.
template <class Bits>
Bits largest_bits(const void* values, std::size_t count) {
  const char* from = static_cast<const char*>(values);
  return in_widest([=]() EBB_IN_WIDEST {
    Bits largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
      bits &= std::numeric_limits<Bits>::max();
      largest = bits > largest ? bits : largest;
    }
    return largest;
  });
}

}  // namespace

base::Result<ElementType> element_type_from(int number) {
  if (number < 1 || number > static_cast<int>(ElementType::uint8))
    return base::error(base::Code::bad_input, "type %d: expected EBB_FLOAT32 to EBB_UINT8", number);
  return static_cast<ElementType>(number);
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
    case ElementType::int64:
      return 8;
    case ElementType::float32:
    case ElementType::int32:
      return 4;
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::int16:
      return 2;
    case ElementType::int8:
    case ElementType::uint8:
      return 1;
  }
  return 0;
}

int significant_bits(ElementType type) {
  switch (type) {
    case ElementType::float64:
    case ElementType::int64:
      return 53;
    case ElementType::int32:
      return 32;
    case ElementType::float32:
      return 24;
    case ElementType::int16:
      return 16;
    case ElementType::float16:
      return 11;
    case ElementType::bfloat16:
    case ElementType::int8:
    case ElementType::uint8:
      return 8;
  }
  return 0;
}

void load(ElementType type, const void* values, std::size_t first, std::size_t count,
          double* into) {
  switch (type) {
    case ElementType::float32:
      return load_as<float>(values, first, count, into);
    case ElementType::float64:
      return load_as<double>(values, first, count, into);
    case ElementType::float16:
      return load_small(kHalf, values, first, count, into);
    case ElementType::bfloat16:
      return load_small(kBrain, values, first, count, into);
    case ElementType::int8:
      return load_as<std::int8_t>(values, first, count, into);
    case ElementType::int16:
      return load_as<std::int16_t>(values, first, count, into);
    case ElementType::int32:
      return load_as<std::int32_t>(values, first, count, into);
    case ElementType::int64:
      return load_as<std::int64_t>(values, first, count, into);
    case ElementType::uint8:
      return load_as<std::uint8_t>(values, first, count, into);
  }
}

void store(ElementType type, const double* from, std::size_t count, void* values,
           std::size_t first) {
  switch (type) {
    case ElementType::float32:
      return store_as<float>(from, count, values, first);
    case ElementType::float16:
      return store_small(kHalf, from, count, values, first);
    case ElementType::bfloat16:
      return store_small(kBrain, from, count, values, first);
    default:
      return store_as<double>(from, count, values, first);
  }
}

bool all_finite(ElementType type, std::size_t elements, const void* values) {
  switch (type) {
    case ElementType::float32:
      return no_exponent_is<std::uint32_t>(0x7f800000U, elements, values);
    case ElementType::float64:
      return no_exponent_is<std::uint64_t>(0x7ff0000000000000U, elements, values);
    case ElementType::float16:
      return no_exponent_is<std::uint16_t>(0x7c00U, elements, values);
    case ElementType::bfloat16:
      return no_exponent_is<std::uint16_t>(0x7f80U, elements, values);
    case ElementType::int64:
      return elements == 0;
    case ElementType::int8:
    case ElementType::int16:
    case ElementType::int32:
    case ElementType::uint8:
      return true;
  }
  return false;
}

double largest_magnitude(ElementType type, const void* values, std::size_t first, std::size_t count,
                         const double* loaded) {
  // Of half as many bytes as the doubles have.
  if (type == ElementType::float32) {
    return static_cast<double>(std::bit_cast<float>(largest_bits<std::int32_t>(
        static_cast<const char*>(values) + first * sizeof(float), count)));
  }
  const double largest = std::bit_cast<double>(largest_bits<std::int64_t>(loaded, count));
  return type == ElementType::int64 && largest > 0x1p53 ? std::numeric_limits<double>::infinity()
                                                        : largest;
}

std::size_t first_unusable(ElementType type, const double* values, std::size_t count) {
  const double most = type == ElementType::int64 ? 0x1p53 : std::numeric_limits<double>::max();
  std::size_t first = 0;
  while (first < count && std::fabs(values[first]) <= most)
    ++first;
  return first;
}

}  // namespace ebb::sum
