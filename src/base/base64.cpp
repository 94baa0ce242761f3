// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <cstdint>

namespace ebb::base {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < three.size() ? static_cast<unsigned char>(three[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= three.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::optional<std::string> base64_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t bits = 0;
    std::size_t digits = 0;
    for (const char c : text.substr(i, 4)) {
      const std::size_t value = kDigits.find(c);
      if (value == std::string_view::npos) break;
      bits = bits << 6 | static_cast<std::uint32_t>(value);
      ++digits;
    }
    if (digits < 2) return std::nullopt;
    bits <<= 6 * (4 - digits);
    for (std::size_t j = 0; j + 1 < digits; ++j)
      bytes += static_cast<char>(bits >> (16 - 8 * j) & 0xFF);
  }
  if (base64_text(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace ebb::base
