// SPDX-License-Identifier: Apache-2.0
// Predictions against steps measured on an H200 with PyTorch 2.11 and transformers 5.17.
#include <gtest/gtest.h>

#include "plan/peak_errors.h"

namespace ebb::plan {
namespace {

TEST(PlannedPeak, IsWhatWasMeasured) {
  std::vector<MeasuredStep> steps = measured_steps("h200-given.json");
  ASSERT_EQ(steps.size(), 10U);
  steps.front().measured.warms_libraries = true;
  PeakErrors errors;
  for (const MeasuredStep& step : steps) {
    const Plan plan = planned(step);
    EXPECT_EQ(plan.parameters, step.measured.parameters) << step.text;
    EXPECT_EQ(plan.gradients, step.measured.gradients) << step.text;
    EXPECT_EQ(plan.optimizer, step.measured.optimizer_state) << step.text;
    errors.add(step.text, step.measured, plan);
  }
  errors.print();
  EXPECT_LT(errors.median(), 0.5);
  EXPECT_LT(errors.worst(), 2);
}

}  // namespace
}  // namespace ebb::plan
