// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "page/document.h"
#include "story/run_story.h"

namespace ebb::show {

/// A run and what it means.
struct ToldRun {
  record::RecordedRun run;
  story::RunStory story;
};

/// Some runs on one page: a row each, and their memory over time in the same plots, each from its
/// own beginning. Its links lead to the runs' own pages, which stand beside it.
page::Document side_by_side_page(const std::vector<ToldRun>& runs);

}  // namespace ebb::show
