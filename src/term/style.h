// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// term: what people see on a terminal. Tables, bars, progress.

namespace ebb::term {

enum class Colour : std::uint8_t { none, dim, bold, green, yellow, red };

/// How to write to one stream: colours and redrawing only where a person watches.
struct Style {
  bool colours = false;
  bool redraws = false;  ///< lines may be overwritten (a terminal, not a log)

  /// The stream behind a file descriptor; $NO_COLOR and TERM=dumb switch colours off.
  static Style of_stream(int descriptor);

  /// `text` in a colour, or as it is.
  std::string paint(std::string_view text, Colour colour) const;
};

/// Columns that `text` takes: UTF-8 characters, not bytes; escape sequences take none.
std::size_t display_width(std::string_view text);

}  // namespace ebb::term
