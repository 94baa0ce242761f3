// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "story/run_story.h"
#include "term/style.h"

namespace ebb::show {

/// The run, its verdict and what it rests on, for a terminal.
std::string verdict_text(const record::RecordedRun& run, const story::RunStory& story,
                         const term::Style& style);

/// verdict_text, then the processes, the place and what happened.
std::string report_text(const record::RecordedRun& run, const story::RunStory& story,
                        const term::Style& style);

}  // namespace ebb::show
