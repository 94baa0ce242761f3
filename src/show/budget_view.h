// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/budget.h"
#include "term/style.h"

namespace ebb::show {

/// The formula part by part; where the model is known, the plan of one device beside it.
std::string budget_text(const plan::Budget& budget, const term::Style& style);

}  // namespace ebb::show
