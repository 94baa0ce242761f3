// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "story/run_story.h"

namespace ebb::story {

/// Whether a verdict says that memory grows or is kept.
bool is_growth(fact::Verdict verdict);

/// The process whose verdict is the run's: the worst of those that matter.
std::optional<std::size_t> find_culprit(const std::vector<ProcessStory>& processes);

}  // namespace ebb::story
