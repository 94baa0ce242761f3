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

/// A line between its points, without steps.
inline page::Line sloped_line(std::string name) {
  page::Line line;
  line.name = std::move(name);
  line.step = false;
  return line;
}

}  // namespace ebb::show
