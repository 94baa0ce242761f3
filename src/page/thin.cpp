// SPDX-License-Identifier: Apache-2.0
#include "page/thin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

/// The sum of parts of the same x; what is not finite adds nothing.
Line sum_of(const std::vector<Line>& parts) {
  Line sum;
  sum.x = parts.front().x;
  sum.y.assign(sum.x.size(), 0);
  for (const Line& part : parts)
    for (std::size_t i = 0; i < std::min(part.y.size(), sum.y.size()); ++i)
      if (std::isfinite(part.y[i])) sum.y[i] += part.y[i];
  return sum;
}

/// Keeps the points of `line` that lie at `xs`, which are some of its own.
void keep_at(const std::vector<double>& xs, Line& line) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < line.x.size() && kept < xs.size(); ++i) {
    if (line.x[i] != xs[kept]) continue;
    line.x[kept] = line.x[i];
    line.y[kept++] = line.y[i];
  }
  line.x.resize(kept);
  line.y.resize(kept);
  line.band_low.clear();
  line.band_high.clear();
}

void thin_together(std::vector<Line>& parts, std::size_t points) {
  const bool can_be = std::all_of(parts.begin(), parts.end(), [&](const Line& part) {
    return part.x == parts.front().x && part.y.size() == part.x.size();
  });
  if (parts.empty() || !can_be) return;
  const std::size_t before = parts.front().x.size();
  const Line kept = thinned(sum_of(parts), points);
  if (kept.x.size() == before) return;
  for (Line& part : parts)
    keep_at(kept.x, part);
}

/// The mean of each `together` values that follow one another, as far as they are finite.
std::vector<double> means(const std::vector<double>& values, std::size_t together) {
  std::vector<double> merged;
  merged.reserve(values.size() / together + 1);
  for (std::size_t first = 0; first < values.size(); first += together) {
    const std::size_t end = std::min(first + together, values.size());
    double mean = 0;
    double count = 0;
    for (std::size_t i = first; i < end; ++i) {
      if (!std::isfinite(values[i])) continue;
      count += 1;
      mean += (values[i] - mean) / count;
    }
    merged.push_back(count > 0 ? mean : std::numeric_limits<double>::quiet_NaN());
  }
  return merged;
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

void thin(Plot& plot, std::size_t points) {
  if (plot.stacked) return thin_together(plot.lines, points);
  for (Line& line : plot.lines)
    line = thinned(std::move(line), points);
}

void thin(HeatMap& map, std::size_t points) {
  points = std::max<std::size_t>(points, 8);
  std::size_t columns = 0;
  for (const HeatMap::Row& row : map.rows)
    columns = std::max(columns, row.values.size());
  if (columns <= points) return;

  const std::size_t together = (columns + points - 1) / points;
  for (HeatMap::Row& row : map.rows)
    row.values = means(row.values, together);
  if (map.columns == 0) map.columns = columns * map.columns_each;
  map.columns_each *= together;
}

void thin(Document& document, std::size_t points) {
  for (Plot& plot : document.plots)
    thin(plot, points);
  for (HeatMap& map : document.heat_maps)
    thin(map, points);
}

}  // namespace ebb::page
