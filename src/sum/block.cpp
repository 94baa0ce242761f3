// SPDX-License-Identifier: Apache-2.0
#include "sum/block.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sum/narrow.h"

namespace ebb::sum {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

constexpr int kWordBits = 64;
/// Left above a fresh block's largest sum, so that later contributions may be larger.
constexpr int kRoomAbove = 8;

/// `additions` contributions, each below 2^top, sum up to less than 2^(top + this).
int growth_bits(std::uint64_t additions) {
  return static_cast<int>(std::bit_width(additions));
}

/// The unit of a block whose sums stay below 2^highest. As low as the room above allows: what comes
/// later has lower bits more often than higher ones.
int lowest_with_room(int highest) {
  return highest + kRoomAbove - (kWordBits - 1);
}

/// 2^exponent. Requires: it is a normal number.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

/// |value| < 2^ this. Requires: not 0.
int top_of(double value) {
  const int field = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52U) & 0x7ffU);
  if (field != 0) return field - 1022;
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent;
}

/// The lowest bit that any of the values has set. Requires: one is not 0.
int lowest_bit_of(const double* values, std::size_t count) {
  int lowest = 1 << 14;
  for (std::size_t i = 0; i < count; ++i)
    if (values[i] != 0) lowest = std::min(lowest, Dyadic(values[i]).exponent);
  return lowest;
}

/// number += product << shift, both in two's complement.
void add_shifted(std::uint64_t* number, int words, Wide product, int shift) {
  const int first = shift / kWordBits;
  const int within = shift % kWordBits;
  const std::uint64_t sign = product < 0 ? ~0ULL : 0;
  const auto low = static_cast<std::uint64_t>(static_cast<UnsignedWide>(product));
  const auto high = static_cast<std::uint64_t>(static_cast<UnsignedWide>(product) >> kWordBits);
  const auto joined = [within](std::uint64_t lower, std::uint64_t upper) {
    return within == 0 ? upper : (upper << within) | (lower >> (kWordBits - within));
  };
  const std::uint64_t parts[3] = {low << within, joined(low, high), joined(high, sign)};
  std::uint64_t carry = 0;
  for (int i = first; i < words; ++i) {
    const std::uint64_t part = i - first < 3 ? parts[i - first] : sign;
    const UnsignedWide total = static_cast<UnsignedWide>(number[i]) + part + carry;
    number[i] = static_cast<std::uint64_t>(total);
    carry = static_cast<std::uint64_t>(total >> kWordBits);
  }
}

/// More than the products of any two doubles spread over, with room to add up.
constexpr int kMostWords = 72;

/// number * 2^unit, rounded once to 53 bits.
double rounded(const std::uint64_t* number, int words, int unit) {
  std::uint64_t magnitude[kMostWords];
  const bool negative = (number[words - 1] >> (kWordBits - 1)) != 0;
  std::uint64_t carry = negative ? 1 : 0;
  int used = 0;
  for (int i = 0; i < words; ++i) {
    magnitude[i] = (negative ? ~number[i] : number[i]) + carry;
    carry = carry != 0 && magnitude[i] == 0 ? 1 : 0;
    if (magnitude[i] != 0) used = i + 1;
  }
  if (used == 0) return 0;
  const std::uint64_t highest = magnitude[used - 1];
  const std::uint64_t next = used > 1 ? magnitude[used - 2] : 0;
  const int spare = std::countl_zero(highest);
  std::uint64_t bits = spare == 0 ? highest : (highest << spare) | (next >> (kWordBits - spare));
  // 64 bits are more than a double takes: whatever is below them only breaks ties.
  bool below = (next << spare) != 0;
  for (int i = 0; i < used - 2; ++i)
    below = below || magnitude[i] != 0;
  if (below) bits |= 1;
  const double value = std::ldexp(static_cast<double>(bits), unit + (used - 1) * kWordBits - spare);
  return negative ? -value : value;
}

/// How many low bits are 0 in all of the sums.
int common_zeros(const std::int64_t* sums, std::size_t count) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < count; ++i)
    any |= static_cast<std::uint64_t>(sums[i]);
  return std::countr_zero(any);
}

std::int64_t shifted(std::int64_t sum, int left) {
  return left < 0 ? sum >> -left
                  : static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) << left);
}

}  // namespace

Dyadic::Dyadic(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int field = static_cast<int>((bits >> 52U) & 0x7ffU);
  std::uint64_t mantissa = bits & ((1ULL << 52U) - 1);
  if (field != 0) mantissa |= 1ULL << 52U;
  if (mantissa == 0) return;
  const int zeros = std::countr_zero(mantissa);
  odd = static_cast<std::int64_t>(mantissa >> zeros);
  if (value < 0) odd = -odd;
  exponent = std::max(field, 1) - 1075 + zeros;
}

Weight::Weight(double weight)
    : value(weight),
      parts(weight),
      bits(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::abs(parts.odd))))),
      top(weight == 0 ? 0 : top_of(weight)) {}

void Block::add(std::int64_t* narrow, const double* values, std::size_t count, double largest,
                const Weight& weight, bool exact_products, std::uint64_t additions) {
  if (largest == 0 || weight.value == 0) return;
  const int top = std::max<int>(top_, top_of(largest) + weight.top);
  if (exact_products && add_narrow(narrow, values, count, weight, top, additions)) return;
  make_room(narrow, count, lowest_bit_of(values, count) + weight.parts.exponent, top, additions);
  if (exact_products && add_narrow(narrow, values, count, weight, top, additions)) return;
  if (words_ == 1) {
    for (std::size_t i = 0; i < count; ++i) {
      const Dyadic value(values[i]);
      if (value.odd == 0) continue;
      // In 128 bits, as a product may be wider than the sum that it ends up in is allowed to be.
      const Wide product = static_cast<Wide>(value.odd) * weight.parts.odd;
      narrow[i] += static_cast<std::int64_t>(static_cast<UnsignedWide>(product)
                                             << (value.exponent + weight.parts.exponent - lowest_));
    }
  } else {
    add_wide(values, count, weight);
  }
}

bool Block::add_narrow(std::int64_t* narrow, const double* values, std::size_t count,
                       const Weight& weight, int top, std::uint64_t additions) {
  if (words_ > 1) return false;
  const int highest = top + growth_bits(additions);
  const bool fresh = words_ == 0;
  const int lowest = fresh ? lowest_with_room(highest) : lowest_;
  if (highest > lowest + kWordBits - 1) return false;
  // Within these, scaling is exact; values do not get smaller by it, so that none ends up as 0.
  if (std::abs(lowest) > 600 || std::abs(weight.top) > 100) return false;
  const double scale = weight.value * power_of_two(-lowest);
  if (std::fabs(scale) < 1) return false;
  if (fresh) {
    if (!set_units(values, count, scale, narrow)) return false;
  } else if (!add_units(values, count, scale, narrow)) {
    take_units(values, count, scale, narrow);
    return false;
  }
  lowest_ = static_cast<std::int16_t>(lowest);
  top_ = static_cast<std::int16_t>(top);
  words_ = 1;
  return true;
}

void Block::make_room(std::int64_t* narrow, std::size_t count, int lowest, int top,
                      std::uint64_t additions) {
  const int highest = top + growth_bits(additions);
  int wanted = words_ == 0 ? lowest : std::min<int>(lowest, lowest_);
  // The unit may be lower than any bit in use; then it can go up again.
  const int needed =
      words_ == 1 ? std::min(lowest, lowest_ + std::min(common_zeros(narrow, count), kWordBits - 1))
                  : wanted;
  if (words_ <= 1 && highest - needed <= kWordBits - 1) {
    wanted = std::min(needed, lowest_with_room(highest));
    for (std::size_t i = 0; i < count; ++i)
      narrow[i] = words_ == 0 ? 0 : shifted(narrow[i], lowest_ - wanted);
    words_ = 1;
  } else {
    const int words =
        std::max<int>(std::max<int>(words_, 2), (highest - wanted + kWordBits) / kWordBits);
    if (words != words_ || wanted != lowest_) {
      auto wide = std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(words) * count);
      const int shift = lowest_ - wanted;
      for (std::size_t i = 0; i < count && words_ != 0; ++i) {
        std::uint64_t* into = wide.get() + i * static_cast<std::size_t>(words);
        if (words_ == 1) {
          add_shifted(into, words, narrow[i], shift);
          continue;
        }
        const std::uint64_t* from = wide_.get() + i * words_;
        for (int word = 0; word < words_ - 1; ++word)
          add_shifted(into, words, static_cast<Wide>(from[word]), shift + word * kWordBits);
        add_shifted(into, words, static_cast<std::int64_t>(from[words_ - 1]),
                    shift + (words_ - 1) * kWordBits);
      }
      wide_ = std::move(wide);
    }
    words_ = static_cast<std::uint16_t>(words);
  }
  lowest_ = static_cast<std::int16_t>(wanted);
  top_ = static_cast<std::int16_t>(top);
}

void Block::add_wide(const double* values, std::size_t count, const Weight& weight) {
  for (std::size_t i = 0; i < count; ++i) {
    const Dyadic value(values[i]);
    if (value.odd == 0) continue;
    add_shifted(wide_.get() + i * words_, words_, static_cast<Wide>(value.odd) * weight.parts.odd,
                value.exponent + weight.parts.exponent - lowest_);
  }
}

void Block::read(const std::int64_t* narrow, std::size_t count, double divisor,
                 double* into) const {
  if (words_ == 1 && std::abs(lowest_) <= 900)
    return from_units(narrow, count, power_of_two(lowest_), divisor, into);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    if (words_ == 1) sum = std::ldexp(static_cast<double>(narrow[i]), lowest_);
    if (words_ > 1) sum = rounded(wide_.get() + i * words_, words_, lowest_);
    into[i] = sum / divisor;
  }
}

std::size_t Block::extra_bytes(std::size_t count) const {
  return words_ > 1 ? words_ * count * sizeof(std::uint64_t) : 0;
}

}  // namespace ebb::sum
