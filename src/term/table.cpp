// SPDX-License-Identifier: Apache-2.0
#include "term/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/bytes.h"
#include "term/screen.h"

namespace ebb::term {
namespace {

constexpr std::size_t kWidest = 200;

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

std::string without_blanks_at_the_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells)
    if (display_width(cell) > kWidest) cell = clipped(cell, kWidest) + "…";
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_)
      width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::text(const Style& style) const {
  const std::vector<std::size_t> width = widths();
  std::string out;
  const auto write_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line += (i > 0 ? "  " : "") + padded(cell_of(i), width[i], columns_[i].align);
    out += without_blanks_at_the_end(line) + "\n";
  };
  write_line([&](std::size_t i) { return style.paint(columns_[i].title, Colour::bold); });
  for (const auto& row : rows_)
    write_line([&](std::size_t i) { return row[i]; });
  return out;
}

std::string Table::markdown() const {
  const std::vector<std::size_t> width = widths();
  std::string out = "|";
  for (std::size_t i = 0; i < columns_.size(); ++i)
    out += " " + padded(columns_[i].title, width[i], columns_[i].align) + " |";
  out += "\n|";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string dashes(std::max<std::size_t>(width[i], 3) + 1, '-');
    out += columns_[i].align == Align::left ? dashes + "-|" : dashes + ":|";
  }
  out += "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (std::size_t i = 0; i < columns_.size(); ++i)
      out += " " + padded(row[i], width[i], columns_[i].align) + " |";
    out += "\n";
  }
  return out;
}

std::string bar(double share, std::size_t width) {
  constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto eighths = static_cast<std::size_t>(std::lround(filled * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i)
    out += "█";
  out += kEighths.at(eighths % 8);
  return out + std::string(width - std::min(width, (eighths + 7) / 8), ' ');
}

std::string or_dash(const std::optional<std::uint64_t>& bytes) {
  return bytes ? base::bytes_text(*bytes) : "-";
}

}  // namespace ebb::term
