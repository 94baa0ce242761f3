// SPDX-License-Identifier: Apache-2.0
#include "term/style.h"

#include <unistd.h>

#include <cstdlib>

namespace ebb::term {

Style Style::of_stream(int descriptor) {
  Style style;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  style.redraws = ::isatty(descriptor) != 0 && !dumb;
  style.colours = style.redraws && std::getenv("NO_COLOR") == nullptr;
  return style;
}

std::string Style::paint(std::string_view text, Colour colour) const {
  const char* code = "";
  switch (colour) {
    case Colour::none:
      break;
    case Colour::dim:
      code = "\033[2m";
      break;
    case Colour::bold:
      code = "\033[1m";
      break;
    case Colour::green:
      code = "\033[32m";
      break;
    case Colour::yellow:
      code = "\033[33m";
      break;
    case Colour::red:
      code = "\033[31m";
      break;
  }
  if (!colours || *code == '\0') return std::string(text);
  return code + std::string(text) + "\033[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm')
        ++i;
      continue;
    }
    const bool continues_character = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!continues_character) ++width;
  }
  return width;
}

}  // namespace ebb::term
