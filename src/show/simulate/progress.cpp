// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"

namespace ebb::show {

using base::bytes_text;
using base::format_text;

SimulateProgress::SimulateProgress(std::string title, std::uint32_t rounds, bool quiet)
    : title_(std::move(title)),
      rounds_(rounds),
      quiet_(quiet),
      redraws_(term::Style::of_stream(STDERR_FILENO).redraws) {
  if (!quiet_) bar_ = std::make_unique<term::Progress>(title_);
}

std::string SimulateProgress::line_of(const fl::RoundReport& round, double seconds_left) const {
  std::string line = format_text("round %u of %u", round.round + 1, rounds_);
  if (scores_) line += format_text(", accuracy %.4f, loss %.3f", scores_->accuracy, scores_->loss);
  if (round.round + 1 < rounds_) line += ", " + base::duration_text(seconds_left) + " left";
  if (const auto& rss = round.memory.now.rss) line += ", rss " + bytes_text(*rss);
  return line;
}

void SimulateProgress::show(const fl::RoundReport& round) {
  if (quiet_) return;
  if (round.scores) scores_ = round.scores;
  wall_ += round.wall_seconds;
  ++seen_;
  const std::uint32_t done = round.round + 1;
  const double left = wall_ / seen_ * (rounds_ - std::min(done, rounds_));
  bar_->show(static_cast<double>(done) / rounds_, line_of(round, left));
  // The tenth that this round completes, if it does.
  if (!redraws_ && done * 10ULL / rounds_ > (done - 1) * 10ULL / rounds_)
    std::fprintf(stderr, "%s: %s\n", title_.c_str(), line_of(round, left).c_str());
}

void SimulateProgress::say(const std::string& line) {
  if (redraws_ && !quiet_) std::fputs("\r\033[K", stderr);
  std::fprintf(stderr, "ebb: %s\n", base::plain_line(line).c_str());
}

}  // namespace ebb::show
