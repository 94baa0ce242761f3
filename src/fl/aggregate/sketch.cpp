// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/sketch.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "fl/select/selector.h"

namespace ebb::fl {
namespace {

/// Bucket and sign of a parameter, from its index.
std::uint32_t mixed(std::uint32_t index) {
  index ^= index >> 16;
  index *= 0x7feb352d;
  index ^= index >> 15;
  index *= 0x846ca68b;
  return index ^ index >> 16;
}

}  // namespace

std::vector<float> sketch_of(std::span<const float> from, std::span<const float> to) {
  std::array<double, kSketchLength> sums{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint32_t hash = mixed(static_cast<std::uint32_t>(i));
    const double moved = static_cast<double>(to[i]) - from[i];
    sums[hash % kSketchLength] += (hash & 0x80000000) != 0 ? moved : -moved;
  }
  return std::vector<float>(sums.begin(), sums.end());
}

double distance(std::span<const float> from, std::span<const float> to) {
  // Eight sums in a fixed order, which the compiler may keep in vector registers.
  std::array<double, 8> sums{};
  const auto add = [&](std::size_t i, std::size_t lane) {
    const double moved = static_cast<double>(to[i]) - static_cast<double>(from[i]);
    sums[lane] += moved * moved;
  };
  std::size_t i = 0;
  for (; i + sums.size() <= from.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane)
      add(i + lane, lane);
  }
  for (; i < from.size(); ++i)
    add(i, 0);
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace ebb::fl
