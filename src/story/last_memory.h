// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "fact/memory_split.h"
#include "record/store.h"
#include "story/copying.h"
#include "story/labels.h"
#include "story/site_story.h"

namespace ebb::story {

/// What the memory of a run's control group was when it was last looked at. `labels`: of
/// RecordedRun::processes; `sites`: of the same run. Nothing where the run was not accounted by a
/// group, or is of an older record.
std::optional<fact::MemorySplit> last_memory_of(const record::RecordedRun& run,
                                                const std::vector<Label>& labels,
                                                const std::vector<Copying>& copying,
                                                const SitesStory& sites = {});

}  // namespace ebb::story
