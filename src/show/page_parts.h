// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "page/document.h"

namespace ebb::show {

/// A column of a page's table; `bar`: with each number's share of the largest.
inline page::Column column(const char* name, page::Unit unit, bool bar = false) {
  return {name, unit, page::Align::automatic, bar};
}

/// A plot over the time of a run.
inline page::Plot time_plot(std::string title, page::Unit unit, const char* y_label) {
  page::Plot plot;
  plot.title = std::move(title);
  plot.x_label = "time";
  plot.x_unit = page::Unit::seconds;
  plot.y_label = y_label;
  plot.y_unit = unit;
  return plot;
}

/// A line between its points, without steps.
inline page::Line sloped_line(std::string name) {
  page::Line line;
  line.name = std::move(name);
  line.step = false;
  return line;
}

}  // namespace ebb::show
