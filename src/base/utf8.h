// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb::base {

/// What stands for a byte that belongs to no character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The length of the character at the start of `text`, or 0 where none is: stray and missing
/// continuation bytes, overlong forms, surrogates and points above U+10FFFF. (Unicode, table 3-7.)
std::size_t character_length(std::string_view text);

/// Whether all of it is UTF-8.
bool is_utf8(std::string_view text);

/// `text` as UTF-8, whatever comes in: each byte that belongs to no character becomes U+FFFD.
std::string utf8_text(std::string_view text);

}  // namespace ebb::base
