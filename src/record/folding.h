// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "record/rows.h"

namespace ebb::record {

/// No grid of time is wider, in milliseconds.
inline constexpr std::int64_t kWidestGrid = std::int64_t{1} << 50;

inline std::int64_t start_of(const NumberedReading& row) {
  return milliseconds(row.reading.seconds);
}
inline std::int64_t start_of(const NumberedAction& row) {
  return milliseconds(row.action.seconds);
}
inline std::int64_t start_of(const PlaceReading& row) {
  return milliseconds(row.now.seconds);
}
inline std::int64_t process_of(const NumberedReading& row) {
  return row.process;
}
inline std::int64_t process_of(const NumberedAction& row) {
  return row.process;
}
inline std::int64_t process_of(const PlaceReading&) {
  return 0;
}
inline void merge_rows(NumberedReading& into, const NumberedReading& other) {
  merge(into.reading, other.reading);
}
inline void merge_rows(NumberedAction& into, const NumberedAction& other) {
  merge(into.action, other.action);
}
inline void merge_rows(PlaceReading& into, const PlaceReading& other) {
  merge(into, other);
}

/// Rows of one process and one stretch of `width` milliseconds become one.
template <class T>
std::vector<T> folded(const std::vector<T>& rows, std::int64_t width) {
  std::map<std::pair<std::int64_t, std::int64_t>, T> cells;
  for (const T& row : rows) {
    const auto [cell, is_new] = cells.try_emplace({start_of(row) / width, process_of(row)}, row);
    if (!is_new) merge_rows(cell->second, row);
  }
  std::vector<T> result;
  for (auto& [key, row] : cells)
    result.push_back(std::move(row));
  return result;
}

/// The newest quarter of `most` stays as it is, what is older becomes half of `most` or fewer. The
/// widths are powers of two, so that what was merged before is merged again as a whole.
template <class T>
std::vector<T> thinned(std::vector<T> rows, std::int64_t most) {
  const auto keep = static_cast<std::ptrdiff_t>(most / 4);
  const auto split = rows.end() - std::min<std::ptrdiff_t>(keep, std::ssize(rows));
  const std::vector<T> newest(split, rows.end());
  rows.erase(split, rows.end());
  std::int64_t width = 1024;
  while (std::ssize(rows) > std::max<std::int64_t>(most / 2, 1) && width < kWidestGrid) {
    rows = folded(rows, width);
    width *= 2;
  }
  rows.insert(rows.end(), newest.begin(), newest.end());
  return rows;
}

}  // namespace ebb::record
