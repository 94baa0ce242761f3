// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::base {

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece. Not thread-safe.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  void add(const void* bytes, std::size_t count);

  /// Of everything added; nothing can be added afterwards.
  Digest finish();

 private:
  void take(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> waiting_{};
  std::uint64_t added_ = 0;
};

/// As 64 hexadecimal digits.
std::string hex_text(const Sha256::Digest& digest);

}  // namespace ebb::base
