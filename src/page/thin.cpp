// SPDX-License-Identifier: Apache-2.0
#include "page/thin.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ebb::page {
namespace {

/// Appends the points `first` to `last` of `line` that its picture needs, in their order.
void keep_extremes(const Line& line, std::size_t first, std::size_t last, Line& kept) {
  std::size_t low = first;
  std::size_t high = first;
  for (std::size_t i = first; i <= last; ++i) {
    if (line.y[i] < line.y[low] || !std::isfinite(line.y[low])) low = i;
    if (line.y[i] > line.y[high] || !std::isfinite(line.y[high])) high = i;
  }
  std::array<std::size_t, 4> chosen = {first, low, high, last};
  std::sort(chosen.begin(), chosen.end());
  const auto end = std::unique(chosen.begin(), chosen.end());
  for (auto index = chosen.begin(); index != end; ++index) {
    kept.x.push_back(line.x[*index]);
    kept.y.push_back(line.y[*index]);
  }
}

}  // namespace

Line thinned(Line line, std::size_t points) {
  const std::size_t count = std::min(line.x.size(), line.y.size());
  points = std::max<std::size_t>(points, 8);
  if (count <= points) return line;

  const std::size_t stretches = points / 4;
  const double from = line.x.front();
  const double width = (line.x[count - 1] - from) / static_cast<double>(stretches);
  Line kept;
  kept.name = line.name;
  kept.step = line.step;
  std::size_t first = 0;
  for (std::size_t stretch = 1; stretch <= stretches && first < count; ++stretch) {
    std::size_t end = count;
    if (stretch < stretches) {
      const double until = from + width * static_cast<double>(stretch);
      end = first;
      while (end < count && line.x[end] < until)
        ++end;
    }
    if (end > first) keep_extremes(line, first, end - 1, kept);
    first = end;
  }
  return kept;
}

}  // namespace ebb::page
