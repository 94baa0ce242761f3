// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace ebb::base {

/// A value or the Error that prevented it, with the member names of std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// Requires: has_value().
  T& value() & {
    EBB_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    EBB_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    EBB_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T value_or(T otherwise) const& { return has_value() ? value() : std::move(otherwise); }

  /// Requires: !has_value().
  const Error& error() const& {
    EBB_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    EBB_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or the Error that prevented it.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return has_value(); }

  /// Requires: !has_value().
  const Error& error() const& {
    EBB_CHECK(failed_);
    return error_;
  }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

}  // namespace ebb::base
