// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "plan/fit.h"
#include "serve/made_page.h"
#include "serve/plan_form.h"

namespace ebb::serve {

/// A plan that is ready to be sent.
struct MadePlan {
  MadePage page;     ///< that of `ebb plan --html`, with the form beside it
  std::string json;  ///< what `ebb plan --json` prints
};

/// Makes what was asked for, with what fits where there is a cap. Code::bad_input for sizes that no
/// plan has; Code::unavailable where it was stopped. Thread-safe.
base::Result<MadePlan> make_plan(const PlanForm& form, const PlanRequest& request,
                                 const plan::Stops& stops);

/// The form alone, with one line on why there is no plan.
MadePage failed_plan(const PlanForm& form, const std::string& line);

}  // namespace ebb::serve
