// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ebb::sites {

/// Appends a number of so many bytes, the lowest first.
inline void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to += static_cast<char>(value >> (8 * i));
}

}  // namespace ebb::sites
