// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "keep/environment_check.h"
#include "term/style.h"

namespace ebb::show {

/// What a process's environment leaves out, a line each, or that it leaves out nothing.
std::string environment_text(const keep::EnvironmentCheck& check, const term::Style& style);

}  // namespace ebb::show
