// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "record/table.h"
#include "record/values.h"

namespace ebb::record {

/// The way from a row to a value in it, member by member: a function that takes a row, const or
/// not, and gives a reference.
template <class First, class... Rest>
auto at(First first, Rest... rest) {
  return [=](auto& row) -> auto& {
    if constexpr (sizeof...(rest) == 0) {
      return row.*first;
    } else {
      return at(rest...)(row.*first);
    }
  };
}

// The kinds of columns; `of` is such a way.

/// A number as it is.
template <class T, class Of>
Column<T> number(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return of(row); },
          [of](T& row, const Row& from, int place) { of(row) = from.integer(place); }};
}

/// A number that is never negative.
template <class T, class Of>
Column<T> count(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return of(row); },
          [of](T& row, const Row& from, int place) { of(row) = from.count(place); }};
}

/// How many a row stands for: at least one.
template <class T, class Of>
Column<T> many(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return of(row); },
          [of](T& row, const Row& from, int place) {
            of(row) = std::max<std::uint64_t>(from.count(place), 1);
          }};
}

/// An optional number; NULL where there is none.
template <class T, class Of>
Column<T> bytes(const char* name, Of of) {
  return {name,
          [of](const T& row) -> Cell {
            if (!of(row)) return {};
            return *of(row);
          },
          [of](T& row, const Row& from, int place) { of(row) = from.optional_count(place); }};
}

/// The same in a column that must not be NULL, of what is never zero where it is known.
template <class T, class Of>
Column<T> bytes_or_zero(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return of(row).value_or(0); },
          [of](T& row, const Row& from, int place) {
            of(row) = from.optional_count(place);
            if (of(row) == 0U) of(row).reset();
          }};
}

/// Seconds, stored in milliseconds.
template <class T, class Of>
Column<T> time(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return milliseconds(of(row)); },
          [of](T& row, const Row& from, int place) { of(row) = seconds_of(from.integer(place)); }};
}

/// Seconds, stored in microseconds.
template <class T, class Of>
Column<T> cost(const char* name, Of of) {
  return {name, [of](const T& row) -> Cell { return whole(of(row) * 1e6); },
          [of](T& row, const Row& from, int place) {
            of(row) = static_cast<double>(from.integer(place)) / 1e6;
          }};
}

/// Percent, stored in hundredths; NULL for an optional that is empty.
template <class T, class Of>
Column<T> share(const char* name, Of of) {
  return {name,
          [of](const T& row) -> Cell {
            const std::optional<double> percent = of(row);
            if (!percent) return {};
            return whole(*percent * 100);
          },
          [of](T& row, const Row& from, int place) {
            if (!from.is_null(place)) of(row) = static_cast<double>(from.integer(place)) / 100;
          }};
}

}  // namespace ebb::record
