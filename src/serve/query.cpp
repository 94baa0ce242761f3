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

std::string value_of(const Query& query, std::string_view name) {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return "";
}

}  // namespace ebb::serve
