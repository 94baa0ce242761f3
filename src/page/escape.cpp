// SPDX-License-Identifier: Apache-2.0
#include "page/escape.h"

#include <algorithm>
#include <cstddef>

namespace ebb::page {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The length of the character at the start of `text`, or 0 where none is: stray and missing
/// continuation bytes, overlong forms, surrogates and points above U+10FFFF. (Unicode, table 3-7.)
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Copies `text` character by character; `substitute` gives what stands in for one, or nothing.
template <class Substitute>
std::string transcribe(std::string_view text, Substitute substitute) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const std::string_view instead = length == 0 ? kReplacement : substitute(character);
    out += instead.empty() ? character : instead;
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) {
  return transcribe(text, [](std::string_view character) -> std::string_view {
    switch (character[0]) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      case '\0':
        return kReplacement;
      default:
        return {};
    }
  });
}

std::string script_json(std::string_view json) {
  return transcribe(json, [](std::string_view character) -> std::string_view {
    // Outside of strings, JSON has none of these.
    switch (character[0]) {
      case '<':
        return "\\u003c";
      case '>':
        return "\\u003e";
      case '&':
        return "\\u0026";
      default:
        break;
    }
    if (character == "\xE2\x80\xA8") return "\\u2028";
    if (character == "\xE2\x80\xA9") return "\\u2029";
    return {};
  });
}

}  // namespace ebb::page
