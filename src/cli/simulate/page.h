// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "show/simulate/outcome.h"

namespace ebb::cli {

/// Code::unavailable where this build writes none.
base::Status can_write_pages();

/// Writes simulations as a page. Requires: a method with a repeat.
base::Status write_page(const show::SimulateOutcome& outcome, const std::string& path);

}  // namespace ebb::cli
