// SPDX-License-Identifier: Apache-2.0
#include "term/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ebb::term {

std::string sparkline(std::span<const double> values, std::size_t width, double least_range) {
  constexpr std::array<const char*, 8> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty() || width == 0) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = std::max(*high - *low, least_range);
  const std::size_t columns = std::min(width, values.size());
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = i * values.size() / columns;
    const std::size_t end = (i + 1) * values.size() / columns;
    const std::span<const double> part = values.subspan(begin, end - begin);
    const double value = *std::max_element(part.begin(), part.end());
    const double share = range > 0 ? (value - *low) / range : 0;
    line += kHeights.at(static_cast<std::size_t>(std::lround(share * 7)));
  }
  return line;
}

}  // namespace ebb::term
