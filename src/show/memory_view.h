// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fact/memory_split.h"
#include "page/document.h"
#include "term/style.h"

namespace ebb::show {

/// What the memory of a control group was: a line with the whole of it, a table of its parts, and
/// what is not known.
std::string split_text(const fact::MemorySplit& split, const term::Style& style);

/// For a page.
page::Table split_table(const fact::MemorySplit& split);

}  // namespace ebb::show
