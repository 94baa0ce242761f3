// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "page/document.h"
#include "plan/fit.h"

namespace ebb::show {

/// What a page says of a plan beside the plan itself.
struct PlanPage {
  std::optional<std::uint64_t> cap;  ///< bytes of the device
  bool fits = false;                 ///< into the cap
  std::vector<page::Fact> found;     ///< e.g. the largest batch
  std::vector<plan::FittingChange> changes;
};

/// A plan as a page: phases as stacked bars against the cap, parts, what would make it fit.
page::Document page_of_plan(const plan::Plan& plan, const PlanPage& beside);

/// What a fit found, for the page of its plan: the same as print_fit says.
PlanPage beside_plan(const plan::Fit& fit);
PlanPage beside_plan(const plan::NetworkFit& fit);

}  // namespace ebb::show
