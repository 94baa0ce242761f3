// SPDX-License-Identifier: Apache-2.0
#include "page/samples.h"

namespace ebb::page::samples {
namespace {

constexpr double kMebibyte = 1 << 20;

/// Live bytes of a process, for a minute and a half.
Plot live_bytes() {
  Plot plot;
  plot.title = "Process 4242 (train.py)";
  plot.x_label = "time";
  plot.x_unit = Unit::seconds;
  plot.y_label = "memory";
  Line line;
  line.name = "live";
  for (int second = 0; second <= 90; ++second) {
    line.x.push_back(second);
    line.y.push_back(static_cast<double>(40 + second) * kMebibyte);
  }
  plot.lines = {line};
  return plot;
}

}  // namespace

Document sites() {
  Document document;
  document.title = "Run 1: nightly";
  document.plots = {live_bytes()};
  FlameGraph flame;
  flame.title = "Who holds it";
  flame.measures = {{"live", Unit::bytes}, {"growth an hour", Unit::bytes}};
  flame.frames = {{"4242 (train.py)", FrameKind::root},
                  {"4243 (worker)", FrameKind::root},
                  {"cache.py:3 fill", FrameKind::python},
                  {"loader.py:42 load_batch", FrameKind::python},
                  {"read_file (libio.so)", FrameKind::native}};
  flame.moments = {0, 30, 60, 90};
  flame.stacks = {
      {{0, 2}, {40 * kMebibyte, 0}, {0, 40 * kMebibyte, 40 * kMebibyte, 40 * kMebibyte}},
      {{0, 3}, {60 * kMebibyte, 90 * kMebibyte}, {0, 0, 30 * kMebibyte, 60 * kMebibyte}},
      {{1, 4}, {0, 0}, {0, 10 * kMebibyte, 10 * kMebibyte, 0}}};
  document.flames = {flame};
  return document;
}

}  // namespace ebb::page::samples
