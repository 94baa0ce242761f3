// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "story/run_story.h"

namespace ebb::story {

/// The verdict of a run in which no process is the culprit, where it only shows in all of them
/// together: their number grows, or none is there for long enough to be judged. Of a run that was
/// recorded for `seconds`.
void judge_together(RunStory& story, double seconds);

}  // namespace ebb::story
