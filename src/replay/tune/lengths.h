// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace ebb::replay {

/// Steps that make the same requests in sizes that follow from one number of each step, which
/// nobody recorded: the length of its sequences, the width of its pictures. Every size is constant,
/// linear or quadratic in it.
class Lengths {
 public:
  /// `sizes[step][place]`: the same number of places in every step. Nothing where no such number
  /// explains every size of every step to the 512 bytes that PyTorch rounds to, or where too few
  /// steps differ to tell: three lengths make a fit, the others have to confirm it.
  static std::optional<Lengths> fit(const std::vector<std::vector<std::uint64_t>>& sizes);

  /// A length as the recorded ones are distributed: equally likely between any two neighbours of
  /// them and beyond either end, where it goes as far as the range over their count. In units of
  /// the finest difference that was recorded, from the shortest.
  std::int64_t draw(std::uint64_t random) const;

  std::uint64_t size_at(std::size_t place, std::int64_t length) const;

 private:
  struct Place {
    std::array<double, 3> coefficients{};  ///< of 1, the length and its square
  };
  bool explains(const std::vector<std::vector<std::uint64_t>>& sizes);

  std::vector<std::int64_t> lengths_;  ///< by step
  std::vector<std::int64_t> sorted_;
  std::vector<Place> places_;
};

}  // namespace ebb::replay
