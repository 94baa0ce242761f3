// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/document.h"
#include "story/run_story.h"

namespace ebb::show {

/// A recorded run as a page: the verdict, memory over time for each process with its rounds and
/// cleanups, and what was around it.
page::Document page_of_run(const record::RecordedRun& run, const story::RunStory& story);

}  // namespace ebb::show
