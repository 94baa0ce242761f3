// SPDX-License-Identifier: Apache-2.0
#include "term/progress.h"

#include <unistd.h>

#include "base/text.h"
#include "base/write_now.h"
#include "term/table.h"

namespace ebb::term {

Progress::Progress(std::string title)
    : title_(std::move(title)), style_(Style::of_stream(STDERR_FILENO)) {}

Progress::~Progress() {
  if (style_.redraws) base::write_now(STDERR_FILENO, "\r\033[K");
}

void Progress::show(double share, const std::string& what) {
  if (!style_.redraws) return;
  base::write_now(STDERR_FILENO,
                  base::format_text("\r\033[K%s %s %3.0f %%  %s", title_.c_str(),
                                    style_.paint(bar(share, 30), Colour::green).c_str(),
                                    share * 100, what.c_str()));
}

}  // namespace ebb::term
