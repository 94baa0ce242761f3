// SPDX-License-Identifier: Apache-2.0
#include "serve/query.h"

#include <optional>

#include "base/text.h"

namespace ebb::serve {
namespace {

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i] == '+' ? ' ' : text[i];
    if (text[i] != '%' || i + 2 >= text.size()) continue;
    const auto high = digit_of(text[i + 1]);
    const auto low = digit_of(text[i + 2]);
    if (!high || !low) continue;
    plain.back() = static_cast<char>(*high << 4 | *low);
    i += 2;
  }
  return plain;
}

}  // namespace

Query read_query(std::string_view text) {
  Query query;
  for (const std::string_view part : base::split(text, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const bool has_value = equals != std::string_view::npos;
    query.emplace_back(decoded(part.substr(0, equals)),
                       has_value ? decoded(part.substr(equals + 1)) : "");
  }
  return query;
}

bool is_well_formed(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1))
    if (i + 2 >= text.size() || !digit_of(text[i + 1]) || !digit_of(text[i + 2])) return false;
  return true;
}

std::string encoded(std::string_view value) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : value) {
    if (kPlain.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string value_of(const Query& query, std::string_view name) {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return "";
}

}  // namespace ebb::serve
