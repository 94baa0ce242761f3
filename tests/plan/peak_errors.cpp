// SPDX-License-Identifier: Apache-2.0
#include "plan/peak_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace ebb::plan {
namespace {

std::string percent(double value) {
  return base::format_text("%+.3f %%", value);
}

Plan expected(const base::Result<Plan>& result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : Plan{};
}

}  // namespace

double off_by(std::uint64_t predicted, std::uint64_t measured) {
  if (predicted == measured) return 0;
  return 100.0 * (static_cast<double>(predicted) / static_cast<double>(measured) - 1);
}

PeakErrors::PeakErrors()
    : table_({{"step", term::Align::left},
              {"weights"},
              {"before"},
              {"after forward"},
              {"after backward"},
              {"peak"},
              {"measured peak"},
              {"reserved"}}) {}

void PeakErrors::add(const std::string& text, const Measured& measured, const Plan& plan) {
  EXPECT_LT(std::abs(off_by(plan.step.weights_blocks, measured.weights)), 1) << text;
  EXPECT_LT(std::abs(off_by(plan.gradients, measured.gradients)), 1) << text;
  EXPECT_LT(std::abs(off_by(plan.optimizer, measured.optimizer_state)), 1) << text;
  const std::uint64_t workspaces = plan.surroundings.workspaces;
  const std::uint64_t here = measured.warms_libraries ? workspaces : 0;
  const double error = off_by(plan.peak() + here, measured.peak);
  errors_.push_back(std::abs(error));
  table_.add_row(
      {text, percent(off_by(plan.step.weights_blocks, measured.weights)),
       percent(off_by(plan.step.before.allocated + here, measured.before)),
       percent(off_by(plan.step.after_forward.allocated + here, measured.after_forward)),
       percent(off_by(plan.step.of(Phase::backward).end + here, measured.after_backward)),
       percent(error), base::bytes_text(measured.peak),
       percent(off_by(plan.step.peak_reserved + workspaces, measured.reserved_peak))});
}

void PeakErrors::print() const {
  std::printf("%s\npeak off by %.2f %% in the median, %.2f %% at worst, of %zu\n\n",
              table_.text().c_str(), median(), worst(), errors_.size());
}

double PeakErrors::worst() const {
  return *std::max_element(errors_.begin(), errors_.end());
}

double PeakErrors::median() const {
  std::vector<double> sorted = errors_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

Plan planned(const MeasuredStep& step) {
  TransformerRequest request;
  request.model = step.model;
  request.training = step.training;
  request.optimizer = step.optimizer;
  request.accumulates = step.accumulates;
  return expected(plan(request));
}

Plan planned(const MeasuredNetwork& step) {
  NetworkRequest request;
  request.network = step.network;
  request.batch = step.batch;
  request.precision = step.precision;
  request.optimizer = step.optimizer;
  return expected(plan(request));
}

}  // namespace ebb::plan
