// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb::base {

// Text that others chose (names, commands, paths, frames), for terminals: it is shown, never
// obeyed.

inline constexpr std::size_t kAnyLength = std::string_view::npos;

/// A part of one line. White space is a blank each, and U+FFFD stands for every control character,
/// for every mark that turns the direction of writing, and for bytes that are no UTF-8. Of more
/// than `columns` characters the first ones, and "…".
std::string plain_line(std::string_view text, std::size_t columns = kAnyLength);

/// The same for lines that are finished: their ends, tabs and colours stay.
std::string plain_lines(std::string_view text);

}  // namespace ebb::base
