// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/plan_page.h"
#include "cli/verb.h"

namespace ebb::cli {

/// What both kinds of plans can be told.
struct CommonOptions {
  std::optional<std::string> precision;
  std::optional<std::string> optimizer;
  std::optional<std::string> cap;
  std::optional<std::string> context;
  std::optional<std::string> measured;
  std::optional<std::string> html;
  std::optional<std::uint64_t> batch;
  bool fit = false;
  bool json = false;
};

/// Reads a word into `to`, where there is one.
template <class Kind>
base::Status read(const std::optional<std::string>& text,
                  base::Result<Kind> (*from)(std::string_view), Kind& to) {
  if (!text) return {};
  const base::Result<Kind> kind = from(*text);
  if (!kind) return kind.error();
  to = *kind;
  return {};
}

/// Reads bytes into `to`, where there is a text.
base::Status read_bytes(const char* option, const std::optional<std::string>& text,
                        std::uint64_t& to);

template <class Number>
void set(const std::optional<Number>& from, Number& to) {
  if (from) to = *from;
}

/// A number; CLI11 by itself takes -1 for the largest one.
template <class Number>
CLI::Option* add_number(CLI::App& verb, const char* name, Number& to, const char* help) {
  return verb.add_option(name, to, help)->check(CLI::NonNegativeNumber);
}

void add_common(CLI::App& verb, CommonOptions& options);

/// Reads --measured, with a progress bar.
base::Result<plan::RecordedStep> recorded_step_of(const std::string& path);

/// The request, corrected by --measured where it was given.
template <class Request>
base::Result<Request> corrected(Request request, const CommonOptions& options) {
  if (!options.measured) return request;
  const auto planned = plan::plan(request);
  if (!planned) return planned.error();
  const auto recorded = recorded_step_of(*options.measured);
  if (!recorded) return recorded.error();
  request.correction = correction_of(*planned, *recorded);
  return request;
}

/// Writes the page of --html where it was given; kDone or another exit status.
int write_plan_page(const plan::Plan& plan, const PlanPage& beside, const CommonOptions& options);

/// The bytes of --cap, where it was given; --fit without it is an error.
base::Result<std::optional<std::uint64_t>> cap_of(const CommonOptions& options);

/// The two kinds of plans, as verbs below `ebb plan`.
void add_plan_transformer(CLI::App& plan, Action& action);
void add_plan_model(CLI::App& plan, Action& action);

}  // namespace ebb::cli
