// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "story/copying.h"
#include "story/run_story.h"

namespace ebb::story {

// What only shows in several processes together.

/// Gives processes that copied much of what they shared the verdict copy_on_write: as theirs where
/// nothing worse was found, else beside it.
void judge_copying(const std::vector<Copying>& families, std::vector<ProcessStory>& processes);

/// The numbers behind it, for the evidence of a run; null where no copies were seen.
base::Json copying_json(const record::RecordedRun& run, const std::vector<Copying>& families);

/// Adds what the processes hold together to the findings and the evidence of the run.
void tell_tree(RunStory& story);

}  // namespace ebb::story
