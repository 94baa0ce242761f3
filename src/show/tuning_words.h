// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "replay/tune/tuner.h"

namespace ebb::show {

// What a search for settings found, in the words that the terminal and the page both use.

struct LabelledText {
  std::string label;
  std::string text;
};

/// "14.0 ms" or "2.50 s": time in calls of the driver.
std::string call_seconds_text(double seconds);

/// The line for a shell: the variable set to the answer, or unset where that is best.
std::string shell_line(const replay::TuneResult& result);

/// What the answer gains, over these jobs together, in what was recorded: against the recorded
/// settings, or the default where they are refused.
std::string gain_text(const std::vector<const replay::TunedJob*>& jobs);

/// How many settings were replayed, and whether none can hold less.
std::string tried_text(const replay::TuneResult& result);

/// What any settings hold at least, and a planner that knows all requests.
std::vector<LabelledText> bounds_texts(const replay::TunedJob& tuned);

/// What comes of the answer as the job goes on, of the recorded settings and of none where these
/// are others, and the smallest card under a limit. Nothing after a quick search.
std::vector<LabelledText> outlook_texts(const replay::TunedJob& tuned);

/// How the answer was chosen: by which futures, and how well it does in them.
std::vector<LabelledText> futures_texts(const replay::FuturesTried& futures);

/// What to know before the answer is used.
std::vector<std::string> tuning_notes(const replay::TuneResult& result);

}  // namespace ebb::show
