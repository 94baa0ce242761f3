// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "page/document.h"

namespace ebb::cli {

/// What --html asks for: one page as `path`, several with their number in the name. Says on stderr
/// what was written; gives kDone or the exit status of what went wrong.
int write_pages(const std::vector<page::Document>& pages, const std::string& path);

}  // namespace ebb::cli
