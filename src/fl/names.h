// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// Code::bad_input for a `name` of a `what` that is none of `known`, with the nearest of them.
base::Error unknown_name(const char* what, std::string_view name,
                         const std::vector<std::string_view>& known);

/// One enumerator and its name.
template <class T>
struct Named {
  T value;
  const char* name;
};

template <class T>
const char* name_in(std::span<const Named<T>> table, T value) {
  for (const Named<T>& row : table)
    if (row.value == value) return row.name;
  return "?";
}

template <class T>
std::vector<std::string_view> names_in(std::span<const Named<T>> table) {
  std::vector<std::string_view> names;
  for (const Named<T>& row : table)
    names.emplace_back(row.name);
  return names;
}

template <class T>
base::Result<T> value_in(std::span<const Named<T>> table, const char* what, std::string_view name) {
  for (const Named<T>& row : table)
    if (name == row.name) return row.value;
  return unknown_name(what, name, names_in(table));
}

}  // namespace ebb::fl
