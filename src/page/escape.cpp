// SPDX-License-Identifier: Apache-2.0
#include "page/escape.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace ebb::page {
namespace {

using base::kReplacement;

/// Copies `text` character by character; `substitute` gives what stands in for one, or nothing.
template <class Substitute>
std::string transcribe(std::string_view text, Substitute substitute) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    const std::size_t length = base::character_length(text);
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
