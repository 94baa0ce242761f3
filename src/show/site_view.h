// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/document.h"
#include "show/site_rows.h"
#include "story/run_story.h"
#include "story/site_history.h"

namespace ebb::show {

/// The sites of a run as text and files have them.
SiteRows rows_of(const story::SitesStory& sites);

/// The sites that grew and those that hold most, under the verdict; empty where allocations were
/// not sampled.
std::string sites_text(const story::RunStory& story);

/// The same as a flame graph, process by process: what is live, what grew, and with a history of
/// the same run what came between two of its moments. No stacks where allocations were not sampled.
page::FlameGraph sites_flame(const story::RunStory& story, const story::SiteHistory& history = {});

}  // namespace ebb::show
