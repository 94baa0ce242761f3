// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_bytes.h"

namespace ebb::base {
namespace {

constexpr int kDeepest = 200;

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | (point >> 6));
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3F));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

/// The value that was written as `text` with `bytes` beside it; nothing where it was not.
std::optional<Json> restored(const Json& text, const Json& bytes) {
  if (bytes_beside(text)) return std::nullopt;
  Json value = text;
  if (text.is_string() && bytes.is_string()) {
    if (auto own = base64_bytes(*bytes.as_string())) value = Json(*std::move(own));
  } else if (text.is_array() && bytes.is_array() &&
             text.as_array()->size() == bytes.as_array()->size()) {
    value = Json::array();
    for (std::size_t i = 0; i < text.as_array()->size(); ++i) {
      const std::string* item = (*bytes.as_array())[i].as_string();
      auto own = item != nullptr ? base64_bytes(*item) : std::nullopt;
      value.push(own ? Json(*std::move(own)) : (*text.as_array())[i]);
    }
  }
  const auto beside = bytes_beside(value);
  if (!beside || beside->text() != bytes.text() || value.text() != text.text()) return std::nullopt;
  return value;
}

/// Puts the bytes in the place of their text where the last two members are such a pair.
void restore_last(Json::Object& members) {
  if (members.size() < 2) return;
  Json::Member& text = members[members.size() - 2];
  if (members.back().first != text.first + kBytesBeside) return;
  auto value = restored(text.second, members.back().second);
  if (!value) return;
  text.second = *std::move(value);
  members.pop_back();
}

/// Recursive descent over a view; each function leaves `at_` behind what it read.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> document() {
    Result<Json> value = any(0);
    if (!value) return value;
    skip_blanks();
    if (at_ != text_.size()) return expected("the end");
    return value;
  }

 private:
  Error expected(const char* what) const {
    return error(Code::bad_input, "JSON at offset %zu: expected %s", at_, what);
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Result<Json> any(int depth) {
    if (depth > kDeepest) return expected("at most 200 levels");
    skip_blanks();
    if (at_ >= text_.size()) return expected("a value");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string_value();
      case 't':
        return take_word("true") ? Result<Json>(Json(true)) : expected("true");
      case 'f':
        return take_word("false") ? Result<Json>(Json(false)) : expected("false");
      case 'n':
        return take_word("null") ? Result<Json>(Json()) : expected("null");
      default:
        return number();
    }
  }

  Result<Json> object(int depth) {
    ++at_;
    Json::Object members;
    skip_blanks();
    if (take('}')) return Json(std::move(members));
    while (true) {
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '"') return expected("a key");
      Result<std::string> key = string();
      if (!key) return key.error();
      skip_blanks();
      if (!take(':')) return expected("':'");
      Result<Json> value = any(depth + 1);
      if (!value) return value;
      members.emplace_back(*std::move(key), *std::move(value));
      restore_last(members);
      skip_blanks();
      if (take('}')) return Json(std::move(members));
      if (!take(',')) return expected("',' or '}'");
    }
  }

  Result<Json> array(int depth) {
    ++at_;
    Json::Array items;
    skip_blanks();
    if (take(']')) return Json(std::move(items));
    while (true) {
      Result<Json> value = any(depth + 1);
      if (!value) return value;
      items.push_back(*std::move(value));
      skip_blanks();
      if (take(']')) return Json(std::move(items));
      if (!take(',')) return expected("',' or ']'");
    }
  }

  Result<Json> string_value() {
    Result<std::string> text = string();
    if (!text) return text.error();
    return Json(*std::move(text));
  }

  Result<std::string> string() {
    ++at_;
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) return expected("no control character in a string");
      ++at_;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) break;
      const char escape = text_[at_++];
      switch (escape) {
        case '"':
          out += '"';
          break;
        case '\\':
          out += '\\';
          break;
        case '/':
          out += '/';
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u': {
          const std::optional<std::uint32_t> point = code_point();
          if (!point) return expected("four hexadecimal digits (surrogates in pairs)");
          append_utf8(out, *point);
          break;
        }
        default:
          --at_;
          return expected("an escape");
      }
    }
    return expected("'\"'");
  }

  std::optional<std::uint32_t> hex4() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    if (digits.size() != 4) return std::nullopt;
    const auto result = std::from_chars(digits.data(), digits.data() + 4, value, 16);
    if (result.ec != std::errc{} || result.ptr != digits.data() + 4) return std::nullopt;
    at_ += 4;
    return value;
  }

  std::optional<std::uint32_t> code_point() {
    const auto high = hex4();
    if (!high || (*high >= 0xDC00 && *high <= 0xDFFF)) return std::nullopt;
    if (*high < 0xD800 || *high > 0xDBFF) return high;
    if (!take_word("\\u")) return std::nullopt;
    const auto low = hex4();
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
    return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
      ++at_;
    return at_ > start;
  }

  Result<Json> number() {
    const std::size_t start = at_;
    const bool negative = take('-');
    if (!take('0') && !digits()) return expected("a value");
    bool whole = true;
    if (take('.')) {
      whole = false;
      if (!digits()) return expected("a digit");
    }
    if (take('e') || take('E')) {
      whole = false;
      if (!take('+')) take('-');
      if (!digits()) return expected("a digit");
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (whole && negative) {
      std::int64_t value = 0;
      // Minus nothing has its sign as a double only.
      if (std::from_chars(first, last, value).ec == std::errc{} && value != 0) return Json(value);
    } else if (whole) {
      std::uint64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc{}) return Json(value);
    }
    double value = 0;
    if (std::from_chars(first, last, value).ec != std::errc{}) {
      at_ = start;
      return expected("a number that a double can hold");
    }
    return Json(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  return Parser(text).document();
}

}  // namespace ebb::base
