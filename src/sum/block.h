// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ebb::sum {

/// A finite double as an odd integer times a power of two; {0, 0} for 0.
struct Dyadic {
  explicit Dyadic(double value);

  std::int64_t odd = 0;
  int exponent = 0;
};

/// What one addition brings: the weight in the forms that blocks need.
struct Weight {
  explicit Weight(double weight);

  double value;
  Dyadic parts;
  int bits;  ///< of parts.odd
  int top;   ///< |value| < 2^top
};

/// Exact sums of up to kElements neighbouring elements, as integers in units of one power of two.
/// 64 bits each, in memory that the owner passes to every call, for as long as that holds every bit
/// of every contribution; else as many words as it takes, in memory of its own. Nothing is ever
/// rounded away, so the order of additions cannot matter. Not thread-safe.
class Block {
 public:
  static constexpr std::size_t kElements = 128;

  /// Adds weight * values[i] to each sum. `largest`: of the values' magnitudes. `exact_products`:
  /// no product of weight and value needs more than a double's bits. `additions`: how many there
  /// were, this one included. Requires: all finite. Throws std::bad_alloc, and is then as it was.
  void add(std::int64_t* narrow, const double* values, std::size_t count, double largest,
           const Weight& weight, bool exact_products, std::uint64_t additions);

  /// The sums, each rounded once, to nearest even, divided by `divisor`, and rounded once more.
  void read(const std::int64_t* narrow, std::size_t count, double divisor, double* into) const;

  /// Bytes beyond the narrow sums.
  std::size_t extra_bytes(std::size_t count) const;

 private:
  bool add_narrow(std::int64_t* narrow, const double* values, std::size_t count,
                  const Weight& weight, int top, std::uint64_t additions);
  void make_room(std::int64_t* narrow, std::size_t count, int lowest, int top,
                 std::uint64_t additions);
  void add_wide(const double* values, std::size_t count, const Weight& weight);

  std::unique_ptr<std::uint64_t[]> wide_;  ///< words_ per element, two's complement, lowest first
  std::int16_t lowest_ = 0;                ///< the unit is 2^lowest_
  std::int16_t top_ = kNothing;            ///< no contribution was 2^top_ or more
  std::uint16_t words_ = 0;                ///< 0: nothing yet; 1: narrow

  static constexpr std::int16_t kNothing = -32768;
};

}  // namespace ebb::sum
