// SPDX-License-Identifier: Apache-2.0
#include "pack/crc32.h"

#include <array>
#include <cstring>

namespace ebb::pack {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// tables[k][b]: the effect of byte b, k bytes before the end of a group of eight.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
    }
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = tables[0][before & 0xFF] ^ (before >> 8);
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t little_endian(const unsigned char* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, const char* bytes, std::size_t count) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes);
  crc = ~crc;
  for (; count >= 8; count -= 8, at += 8) {
    const std::uint32_t low = little_endian(at) ^ crc;
    const std::uint32_t high = little_endian(at + 4);
    crc = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^
          kTables[1][high >> 16 & 0xFF] ^ kTables[0][high >> 24];
  }
  for (; count > 0; --count, ++at) {
    crc = kTables[0][(crc ^ *at) & 0xFF] ^ (crc >> 8);
  }
  return ~crc;
}

}  // namespace ebb::pack
