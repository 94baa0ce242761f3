// SPDX-License-Identifier: Apache-2.0
#include "cache/settings_tokens.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>

namespace ebb::cache {

std::vector<SettingsToken> settings_tokens(std::string_view text, bool any_blank) {
  std::vector<SettingsToken> tokens;
  SettingsToken word;
  const auto flush = [&] {
    if (!word.text.empty()) tokens.push_back(std::move(word));
    word = {};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == ':' || c == '[' || c == ']') {
      flush();
      tokens.push_back({std::string(1, c), i + 1});
    } else if (any_blank ? std::isspace(static_cast<unsigned char>(c)) == 0 : c != ' ') {
      if (word.text.empty()) word.column = i + 1;
      word.text += c;
    }
  }
  flush();
  return tokens;
}

std::optional<std::uint64_t> leading_integer(const std::string& text, int bits) {
  const char* start = text.c_str();
  char* end = nullptr;
  errno = 0;
  if (bits == 32) {
    const long value = std::strtol(start, &end, 10);
    if (end == start || errno == ERANGE || value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max()) {
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(value);
  }
  const unsigned long long value = std::strtoull(start, &end, 10);
  if (end == start || errno == ERANGE) return std::nullopt;
  return value;
}

std::optional<double> leading_double(const std::string& text) {
  const char* start = text.c_str();
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(start, &end);
  if (end == start || errno == ERANGE) return std::nullopt;
  return value;
}

}  // namespace ebb::cache
