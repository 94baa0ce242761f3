// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ebb::base {

/// A JSON value. Objects keep the order in which keys were added; integers stay exact to 64 bits.
/// Texts may be any bytes.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  /// Not the variant's own: where a copy of a string throws, libstdc++ (12) takes it for made.
  Json(const Json& other) { value_ = other.value_; }
  Json(Json&&) noexcept = default;
  Json& operator=(const Json&) = default;
  Json& operator=(Json&&) noexcept = default;
  ~Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  /// null where there is no value.
  template <class T>
  Json(const std::optional<T>& value) {
    if (value) *this = Json(*value);
  }

  static Json array(std::initializer_list<Json> items = {}) { return Json(Array(items)); }
  static Json object(std::initializer_list<Member> members = {}) { return Json(Object(members)); }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }

  /// The value as the type asked for, or nothing. Numbers convert where no information is lost.
  std::optional<bool> as_bool() const;
  std::optional<std::int64_t> as_int() const;
  std::optional<std::uint64_t> as_unsigned() const;
  std::optional<double> as_double() const;
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }

  /// The member named `key`, or null when this is no object or has none.
  const Json* find(std::string_view key) const;

  /// Adds or replaces a member; a null value becomes an object first. Returns *this.
  Json& set(std::string_view key, Json value);

  /// Appends an item; a null value becomes an array first. Returns *this.
  Json& push(Json item);

  /// On one line, or indented by two spaces. Not-a-number and infinities are written as null. What
  /// is written is UTF-8: bytes of a text that belong to no character become U+FFFD, and beside a
  /// member "name" whose value is such a text, or a list with one, "name_base64" has the bytes as
  /// they were, for each text of the list.
  std::string text(bool indented = false) const;

 private:
  void write(std::string& out, bool indented, int depth) const;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

/// Reads one JSON value and nothing after it. Strict RFC 8259, at most 200 levels deep; the error
/// names the offset and what was expected there. Texts that Json::text() wrote with their bytes
/// beside them are those bytes again.
Result<Json> parse_json(std::string_view text);

}  // namespace ebb::base
