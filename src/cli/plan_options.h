// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/verb.h"
#include "plan/options.h"
#include "show/plan_page.h"

namespace ebb::cli {

/// Where a plan goes to.
struct OutputOptions {
  std::optional<std::string> html;
  bool json = false;
};

/// `first`, with where it goes to.
base::Options with_output_options(base::Options first, OutputOptions& output);

/// Reads --measured, with a progress bar.
base::Result<plan::RecordedStep> recorded_step_of(const std::string& path);

/// The request, corrected by --measured where it was given.
template <class Request>
base::Result<Request> corrected(const Request& request, const plan::CommonOptions& options) {
  if (!options.measured) return request;
  const auto recorded = recorded_step_of(*options.measured);
  if (!recorded) return recorded.error();
  return plan::corrected(request, *recorded);
}

/// Writes the page of --html where it was given; kDone or another exit status.
int write_plan_page(const plan::Plan& plan, const show::PlanPage& page,
                    const OutputOptions& options);

/// The kinds of plans, as verbs below `ebb plan`.
void add_plan_transformer(Verb plan);
void add_plan_model(Verb plan);
void add_plan_budget(Verb plan);
void add_plan_clients(Verb plan);

}  // namespace ebb::cli
