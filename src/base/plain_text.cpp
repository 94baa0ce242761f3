// SPDX-License-Identifier: Apache-2.0
#include "base/plain_text.h"

#include <algorithm>
#include <cctype>

#include "base/utf8.h"

namespace ebb::base {
namespace {

/// A character of more than one byte that a terminal would obey.
bool is_obeyed(std::string_view character) {
  // U+0080 to U+009F, as some terminals take them: U+009B begins an escape sequence.
  if (character[0] == '\xC2') return static_cast<unsigned char>(character[1]) < 0xA0;
  constexpr std::string_view kTurns[] = {
      "\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C",
      "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069",
  };
  return std::find(std::begin(kTurns), std::end(kTurns), character) != std::end(kTurns);
}

std::string_view shown(std::string_view character) {
  if (character.size() == 1) {
    const auto byte = static_cast<unsigned char>(character[0]);
    if (std::isspace(byte) != 0) return " ";
    return byte < 0x20 || byte == 0x7F ? kReplacement : character;
  }
  if (character == "\u2028" || character == "\u2029") return " ";
  return is_obeyed(character) ? kReplacement : character;
}

std::string_view next_character(std::string_view text) {
  const std::size_t length = character_length(text);
  return length == 0 ? std::string_view() : text.substr(0, length);
}

/// The length of the colour at the start of `text`, as term::Style paints them; 0 where none is.
std::size_t colour_length(std::string_view text) {
  constexpr std::size_t kMostDigits = 2;
  if (!text.starts_with("\033[")) return 0;
  std::size_t end = 2;
  while (end < std::min(text.size(), 2 + kMostDigits) && text[end] >= '0' && text[end] <= '9')
    ++end;
  return end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string plain_line(std::string_view text, std::size_t columns) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == columns) return out + "…";
    const std::string_view character = next_character(text);
    out += character.empty() ? kReplacement : shown(character);
    text.remove_prefix(std::max<std::size_t>(character.size(), 1));
  }
  return out;
}

std::string plain_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t colour = colour_length(text);
    const std::string_view character = colour > 0 ? text.substr(0, colour) : next_character(text);
    const bool stays = colour > 0 || character == "\n" || character == "\t";
    out += character.empty() ? kReplacement : stays ? character : shown(character);
    text.remove_prefix(std::max<std::size_t>(character.size(), 1));
  }
  return out;
}

}  // namespace ebb::base
