// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fact/ledger.h"
#include "page/document.h"
#include "story/run_story.h"
#include "term/style.h"

namespace ebb::show {

/// Where one process's memory is: a table with one row, and its notes.
std::string ledger_text(const fact::Ledger& ledger, const term::Style& style);

/// The same of the largest `most` processes of a run, a row each; empty where nothing is known.
std::string ledgers_text(const story::RunStory& story, std::size_t most, const term::Style& style);

/// For a page.
page::Table ledger_table(const story::RunStory& story, std::size_t most);

}  // namespace ebb::show
