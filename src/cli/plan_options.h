// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
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

/// A number; CLI11 by itself takes -1 for the largest one.
template <class Number>
CLI::Option* add_number(CLI::App& verb, const char* name, Number& to, const char* help) {
  return verb.add_option(name, to, help)->check(CLI::NonNegativeNumber);
}

/// What both kinds of plans can be told.
void add_common(CLI::App& verb, plan::CommonOptions& options, OutputOptions& output);

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
int write_plan_page(const plan::Plan& plan, const show::PlanPage& beside,
                    const OutputOptions& options);

/// The two kinds of plans, as verbs below `ebb plan`.
void add_plan_transformer(CLI::App& plan, Action& action);
void add_plan_model(CLI::App& plan, Action& action);

}  // namespace ebb::cli
