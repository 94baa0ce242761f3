// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "page/samples.h"

namespace ebb::page::samples {
namespace {

using base::kMiB;

constexpr std::size_t kRound = 100;  // moments

/// A process in rounds: what it frees is retained until a cleanup; one part is known late.
Plot ledger(std::size_t moments) {
  Plot plot;
  plot.title = "Where the memory of process 4242 (train.py) is";
  plot.note = "The parts add up to rss and swap; what is not known is in unexplained.";
  plot.x_label = "time";
  plot.x_unit = Unit::seconds;
  plot.y_label = "memory";
  plot.stacked = true;
  for (const char* name : {"live", "retained", "private", "shared", "file", "unexplained"})
    plot.lines.push_back({name, {}, {}, false});
  Numbers numbers;
  for (std::size_t i = 0; i < moments; ++i) {
    const double phase = static_cast<double>(i % kRound) / kRound;
    const double wave = std::sin(phase * 3.14159);
    const bool is_known = i >= moments / 4;
    const double values[] = {300 + 500 * wave + 0.0004 * static_cast<double>(i * kRound % 500'000),
                             phase > 0.5 ? 450 * (1 - wave) : 20,
                             90 + 40 * phase,
                             64,
                             180,
                             120 + static_cast<double>(numbers.below(30)) + (is_known ? 0 : 110)};
    for (std::size_t part = 0; part < plot.lines.size(); ++part) {
      plot.lines[part].x.push_back(static_cast<double>(i));
      plot.lines[part].y.push_back(part == 2 && !is_known ? std::numeric_limits<double>::quiet_NaN()
                                                          : values[part] * kMiB);
    }
    if (i % kRound == 0 && i > 0 && plot.marks.size() < 6)
      plot.marks.push_back({static_cast<double>(i), "cleanup −450.0 MiB"});
  }
  plot.limit = Limit{"limit", 2048.0 * kMiB};
  return plot;
}

}  // namespace

Document stacked(std::size_t moments) {
  Document document;
  document.title = "Run 7: gpt-small";
  document.plots = {ledger(moments)};
  return document;
}

}  // namespace ebb::page::samples
