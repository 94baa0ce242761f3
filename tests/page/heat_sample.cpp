// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "page/samples.h"

namespace ebb::page::samples {
namespace {

using base::kMiB;

/// How often each of 100 clients was chosen, by four ways to choose.
HeatMap participation() {
  HeatMap map;
  map.title = "Who took part";
  map.note = "Over 50 rounds of ten clients each.";
  map.x_label = "client";
  map.y_label = "method";
  map.measured = "rounds it took part in";
  map.unit = Unit::count;
  map.rows = {{"random", {}}, {"the fastest", {}}, {"by need", {}}, {"in turn", {}}};
  Numbers numbers;
  for (int client = 0; client < 100; ++client) {
    const double speed = 0.5 + 0.5 * std::sin(client * 0.7);
    map.rows[0].values.push_back(static_cast<double>(2 + numbers.below(7)));
    map.rows[1].values.push_back(speed > 0.8 ? std::floor(25 * speed) : 0);
    map.rows[2].values.push_back(std::floor(14.0 * client / 100));
    map.rows[3].values.push_back(5);
  }
  return map;
}

/// The last client left after it had measured once.
HeatMap peaks() {
  HeatMap map;
  map.title = "Peak of each client";
  map.x_label = "client";
  map.y_label = "round";
  map.measured = "rss at most";
  map.unit = Unit::bytes;
  map.rows = {
      {"first", {310.0 * kMiB, 420.0 * kMiB, 295.5 * kMiB, 640.0 * kMiB}},
      {"second",
       {330.0 * kMiB, 512.0 * kMiB, 301.0 * kMiB, std::numeric_limits<double>::quiet_NaN()}}};
  return map;
}

}  // namespace

Document heat() {
  Document document;
  document.title = "Selection of clients";
  document.heat_maps = {participation(), peaks()};
  return document;
}

}  // namespace ebb::page::samples
