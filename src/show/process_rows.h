// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "story/run_story.h"

namespace ebb::show {

/// One row of a table of processes.
struct ProcessRow {
  const story::ProcessStory* process;  ///< in the story
  std::string name;
};

/// The `most` largest processes, with forked workers below their parent.
std::vector<ProcessRow> process_rows(const story::RunStory& story, std::size_t most);

}  // namespace ebb::show
