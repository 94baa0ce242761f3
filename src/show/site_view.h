// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "story/run_story.h"

namespace ebb::show {

/// The sites that grew and those that hold most, under the verdict; empty where allocations were
/// not sampled.
std::string sites_text(const story::RunStory& story);

}  // namespace ebb::show
