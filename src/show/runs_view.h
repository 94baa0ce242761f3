// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "page/document.h"
#include "story/run_story.h"
#include "term/style.h"

namespace ebb::show {

/// Recorded runs as a table, in their order.
std::string runs_text(const std::vector<record::RunSummary>& runs, const term::Style& style);

/// The same as a page, with links to runs/NUMBER.
page::Document runs_page(const std::vector<record::RunSummary>& runs);

}  // namespace ebb::show
