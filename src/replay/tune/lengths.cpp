// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/lengths.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "cache/rounding.h"

namespace ebb::replay {
namespace {

using Sizes = std::vector<std::vector<std::uint64_t>>;

constexpr std::size_t kLeastLengths = 4;
/// Places tried as the measure of the length.
constexpr std::size_t kMostMeasures = 16;

/// The sizes of one place as whole steps above the smallest; empty where they do not vary enough.
std::vector<std::int64_t> measured_at(const Sizes& sizes, std::size_t place) {
  std::uint64_t least = sizes[0][place];
  for (const auto& step : sizes) {
    least = std::min(least, step[place]);
  }
  std::uint64_t unit = 0;
  for (const auto& step : sizes) {
    unit = std::gcd(unit, step[place] - least);
  }
  if (unit == 0) return {};
  std::vector<std::int64_t> lengths;
  for (const auto& step : sizes) {
    lengths.push_back(static_cast<std::int64_t>((step[place] - least) / unit));
  }
  const std::set<std::int64_t> different(lengths.begin(), lengths.end());
  return different.size() < kLeastLengths ? std::vector<std::int64_t>() : lengths;
}

std::uint64_t rounded(std::uint64_t bytes) {
  return cache::round_up(bytes, cache::kMinBlock);
}

}  // namespace

std::optional<Lengths> Lengths::fit(const Sizes& sizes) {
  if (sizes.size() < kLeastLengths || sizes[0].empty()) return std::nullopt;
  const std::size_t places = sizes[0].size();
  if (std::any_of(sizes.begin(), sizes.end(),
                  [&](const auto& step) { return step.size() != places; })) {
    return std::nullopt;
  }
  std::set<std::vector<std::int64_t>> measures;
  for (std::size_t place = 0; place < places && measures.size() < kMostMeasures; ++place) {
    std::vector<std::int64_t> lengths = measured_at(sizes, place);
    if (lengths.empty() || !measures.insert(lengths).second) continue;
    Lengths found;
    found.lengths_ = std::move(lengths);
    if (found.explains(sizes)) return found;
  }
  return std::nullopt;
}

bool Lengths::explains(const Sizes& sizes) {
  sorted_ = lengths_;
  std::sort(sorted_.begin(), sorted_.end());
  std::vector<std::int64_t> different;
  std::unique_copy(sorted_.begin(), sorted_.end(), std::back_inserter(different));
  const std::int64_t chosen[] = {different.front(), different[different.size() / 2],
                                 different.back()};
  std::array<std::size_t, 3> steps{};
  for (std::size_t i = 0; i < 3; ++i) {
    steps[i] = static_cast<std::size_t>(std::find(lengths_.begin(), lengths_.end(), chosen[i]) -
                                        lengths_.begin());
  }
  const auto x = [&](std::size_t i) { return static_cast<double>(chosen[i]); };
  const auto range = sorted_.back() - sorted_.front();
  const std::int64_t beyond = range / static_cast<std::int64_t>(sorted_.size());
  places_.resize(sizes[0].size());
  for (std::size_t place = 0; place < places_.size(); ++place) {
    const auto y = [&](std::size_t i) { return static_cast<double>(sizes[steps[i]][place]); };
    const double first = (y(1) - y(0)) / (x(1) - x(0));
    const double second = (y(2) - y(1)) / (x(2) - x(1));
    const double square = (second - first) / (x(2) - x(0));
    // Newton's form, multiplied out.
    const double slope = first - square * (x(0) + x(1));
    places_[place].coefficients = {y(0) - first * x(0) + square * x(0) * x(1), slope, square};
    for (std::size_t step = 0; step < sizes.size(); ++step) {
      if (rounded(size_at(place, lengths_[step])) != rounded(sizes[step][place])) return false;
    }
    // A size that would shrink to nothing beyond the ends is none that was understood.
    if (size_at(place, sorted_.front() - beyond) == 0 && sizes[steps[0]][place] != 0) return false;
    if (size_at(place, sorted_.back() + beyond) == 0 && sizes[steps[2]][place] != 0) return false;
  }
  return true;
}

std::int64_t Lengths::draw(std::uint64_t random) const {
  const auto count = static_cast<std::int64_t>(sorted_.size());
  const std::int64_t range = sorted_.back() - sorted_.front();
  const auto gap = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(count + 1));
  const auto at = [&](std::int64_t i) { return sorted_[static_cast<std::size_t>(i)]; };
  const std::int64_t low = gap == 0 ? at(0) - range / count : at(gap - 1);
  const std::int64_t high = gap == count ? at(count - 1) + range / count : at(gap);
  const std::uint64_t rest = random / static_cast<std::uint64_t>(count + 1);
  return low + static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(high - low + 1));
}

std::uint64_t Lengths::size_at(std::size_t place, std::int64_t length) const {
  const auto& [constant, slope, square] = places_[place].coefficients;
  const auto x = static_cast<double>(length);
  const double bytes = std::round(constant + (slope + square * x) * x);
  return bytes < 1 ? 0 : static_cast<std::uint64_t>(bytes);
}

}  // namespace ebb::replay
