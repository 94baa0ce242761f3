// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "keep/info.h"
#include "term/style.h"

namespace ebb::show {

/// A process's allocator, memory, limit and GPUs.
std::string info_text(const keep::Info& info, const term::Style& style);

}  // namespace ebb::show
