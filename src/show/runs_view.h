// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "page/document.h"
#include "story/run_story.h"
#include "term/style.h"

namespace ebb::show {

/// Recorded runs as a table, in their order.
std::string runs_text(const std::vector<record::RunSummary>& runs, const term::Style& style);

/// The same as a page, with links to runs/NUMBER and the verdicts that are known.
page::Document runs_page(const std::vector<record::RunSummary>& runs,
                         const std::map<std::int64_t, fact::Verdict>& verdicts);

}  // namespace ebb::show
