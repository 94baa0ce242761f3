// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/json_bytes.h"
#include "base/text.h"
#include "base/utf8.h"

namespace ebb::base {
namespace {

void write_string(std::string& out, std::string_view text) {
  if (!is_utf8(text)) return write_string(out, utf8_text(text));
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += format_text("\\u%04x", static_cast<unsigned>(c));
        } else if (c == '\xC2' && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
          // Up to U+009F they are control characters too, which some terminals obey.
          out +=
              format_text("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(text[++i])));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

template <class Number>
void write_number(std::string& out, Number value) {
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

void new_line(std::string& out, int depth) {
  out += '\n';
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

bool has_other_bytes(const Json& value) {
  return value.is_string() && !is_utf8(*value.as_string());
}

}  // namespace

std::optional<Json> bytes_beside(const Json& value) {
  if (has_other_bytes(value)) return Json(base64_text(*value.as_string()));
  const Json::Array* items = value.as_array();
  if (items == nullptr || std::none_of(items->begin(), items->end(), has_other_bytes))
    return std::nullopt;
  Json texts = Json::array();
  for (const Json& item : *items)
    texts.push(item.is_string() ? Json(base64_text(*item.as_string())) : Json());
  return texts;
}

std::optional<bool> Json::as_bool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Json::as_int() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_);
      value != nullptr && *value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return static_cast<std::int64_t>(*value);
  // 2^53: every whole double up to here is the number that was written.
  if (const auto* value = std::get_if<double>(&value_);
      value != nullptr && std::abs(*value) <= 9007199254740992.0 && std::trunc(*value) == *value)
    return static_cast<std::int64_t>(*value);
  return std::nullopt;
}

std::optional<std::uint64_t> Json::as_unsigned() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  if (const auto value = as_int(); value && *value >= 0) return static_cast<std::uint64_t>(*value);
  return std::nullopt;
}

std::optional<double> Json::as_double() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

const Json* Json::find(std::string_view key) const {
  const Object* members = as_object();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members)
    if (member.first == key) return &member.second;
  return nullptr;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  Object* members = std::get_if<Object>(&value_);
  EBB_CHECK(members != nullptr);
  for (Member& member : *members) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  members->emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json item) {
  if (is_null()) value_ = Array();
  Array* items = std::get_if<Array>(&value_);
  EBB_CHECK(items != nullptr);
  items->push_back(std::move(item));
  return *this;
}

std::string Json::text(bool indented) const {
  std::string out;
  write(out, indented, 0);
  return out;
}

void Json::write(std::string& out, bool indented, int depth) const {
  if (is_null()) {
    out += "null";
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* whole = std::get_if<std::int64_t>(&value_)) {
    write_number(out, *whole);
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value_)) {
    write_number(out, *natural);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    if (std::isfinite(*real)) {
      write_number(out, *real);
    } else {
      out += "null";
    }
  } else if (const auto* string = as_string()) {
    write_string(out, *string);
  } else if (const auto* items = as_array()) {
    out += '[';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ',';
      if (indented) new_line(out, depth + 1);
      (*items)[i].write(out, indented, depth + 1);
    }
    if (indented && !items->empty()) new_line(out, depth);
    out += ']';
  } else if (const auto* members = as_object()) {
    out += '{';
    const auto write_member = [&](const std::string& key, const Json& value) {
      if (out.back() != '{') out += ',';
      if (indented) new_line(out, depth + 1);
      write_string(out, key);
      out += indented ? ": " : ":";
      value.write(out, indented, depth + 1);
    };
    for (const auto& [key, value] : *members) {
      write_member(key, value);
      if (const auto bytes = bytes_beside(value)) write_member(key + kBytesBeside, *bytes);
    }
    if (indented && !members->empty()) new_line(out, depth);
    out += '}';
  }
}

}  // namespace ebb::base
