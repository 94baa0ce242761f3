// SPDX-License-Identifier: Apache-2.0
#include "term/progress.h"

#include <unistd.h>

#include <cstdio>

#include "term/table.h"

namespace ebb::term {

Progress::Progress(std::string title)
    : title_(std::move(title)), style_(Style::of_stream(STDERR_FILENO)) {}

Progress::~Progress() {
  if (style_.redraws) std::fputs("\r\033[K", stderr);
}

void Progress::show(double share, const std::string& what) {
  if (!style_.redraws) return;
  std::fprintf(stderr, "\r\033[K%s %s %3.0f %%  %s", title_.c_str(),
               style_.paint(bar(share, 30), Colour::green).c_str(), share * 100, what.c_str());
  std::fflush(stderr);
}

}  // namespace ebb::term
