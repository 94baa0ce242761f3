// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "term/style.h"

namespace ebb::term {

enum class Align : std::uint8_t { left, right };

/// A table of text whose columns line up.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Cells beyond the columns are dropped, missing ones are empty, and long ones are cut. Cells may
  /// be painted.
  void add_row(std::vector<std::string> cells);

  /// With a line of titles; two spaces between columns; no space at a line's end.
  std::string text(const Style& style = {}) const;

  /// The same as a Markdown table, without colours.
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A bar of `width` columns of which `share` (0 to 1) is filled, in eighths of a column.
std::string bar(double share, std::size_t width);

/// A cell of bytes ("1.5 GiB"); a dash where they are not known.
std::string or_dash(const std::optional<std::uint64_t>& bytes);

}  // namespace ebb::term
