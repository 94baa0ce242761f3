// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ebb::base {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

/// The smallest multiple of `multiple` that is at least `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
inline constexpr std::uint64_t kTiB = 1024 * kGiB;

/// For people: "0 B", "512 B", "1.5 KiB", "24.0 GiB". One decimal from KiB on.
std::string bytes_text(std::uint64_t bytes);

/// The same with a sign, for differences.
std::string signed_bytes_text(std::int64_t bytes);

/// Reads "4096", "24GiB", "1.5 MiB", "80GB" (decimal units are powers of 1000, a bare K, M, G or T
/// is binary). Fails on anything else, and on values above 2^63.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace ebb::base
