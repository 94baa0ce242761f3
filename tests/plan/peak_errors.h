// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plan/measured.h"
#include "plan/plan.h"
#include "term/table.h"

namespace ebb::plan {

/// By how many percent a prediction is above (or, negative, below) what was measured.
double off_by(std::uint64_t predicted, std::uint64_t measured);

/// Predictions beside what was measured, and how far they are off.
class PeakErrors {
 public:
  PeakErrors();

  /// Also expects what must be right for every step: weights, gradients and optimizer state.
  void add(const std::string& text, const Measured& measured, const Plan& plan);

  void print() const;
  /// Of the absolute errors of the peak, in percent.
  double worst() const;
  double median() const;

 private:
  term::Table table_;
  std::vector<double> errors_;
};

/// The plan of a measured step; a failed expectation where there is none.
Plan planned(const MeasuredStep& step);
Plan planned(const MeasuredNetwork& step);

}  // namespace ebb::plan
