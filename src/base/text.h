// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdarg>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::base {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...);
[[gnu::format(printf, 1, 0)]] std::string format_text_v(const char* format, va_list arguments);

/// `text` without white space at either end.
std::string_view trimmed(std::string_view text);

/// The pieces of `text` between single `separator`s; empty pieces are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The pieces of `text` between runs of spaces, tabs and newlines; no piece is empty.
std::vector<std::string_view> words(std::string_view text);

/// The whole of `text` as a number; nothing for signs, blanks, other characters or overflow.
std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base = 10);

/// The whole of `text` as a finite floating-point number, or nothing.
std::optional<double> parse_double(std::string_view text);

/// The candidate that `text` was most likely meant to be, or nothing when none is close.
std::optional<std::string_view> nearest(std::string_view text,
                                        const std::vector<std::string_view>& candidates);

}  // namespace ebb::base
