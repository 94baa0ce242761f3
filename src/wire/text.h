// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace ebb::wire {

/// A short text in a fixed place; what does not fit is cut off.
template <std::size_t Size>
struct Text {
  std::array<char, Size> bytes{};

  Text() = default;
  explicit Text(std::string_view text) { text.copy(bytes.data(), Size - 1); }
  std::string_view view() const { return {bytes.data(), ::strnlen(bytes.data(), Size)}; }
};

}  // namespace ebb::wire
