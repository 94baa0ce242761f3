// SPDX-License-Identifier: Apache-2.0
// Predictions against steps that bench/gpu/plan_measure.py measured after the formulas were
// written.
#include <gtest/gtest.h>

#include "plan/peak_errors.h"

namespace ebb::plan {
namespace {

constexpr const char* kFile = "h200-own.json";

TEST(PlannedPeak, HoldsForTransformersNobodyLookedAtBefore) {
  const std::vector<MeasuredStep> steps = measured_steps(kFile);
  ASSERT_GE(steps.size(), 20U);
  PeakErrors errors;
  for (const MeasuredStep& step : steps)
    errors.add(step.text, step.measured, planned(step));
  errors.print();
  EXPECT_LE(errors.median(), 5);
  EXPECT_LE(errors.worst(), 10);
}

void expect_within_stated_error(const char* file) {
  const std::vector<MeasuredNetwork> steps = measured_networks(file);
  ASSERT_FALSE(steps.empty());
  PeakErrors errors;
  for (const MeasuredNetwork& step : steps) {
    const Plan plan = planned(step);
    EXPECT_EQ(plan.parameters, step.measured.parameters) << step.text;
    EXPECT_GE(plan.peak() + plan.error_bytes(), step.measured.peak) << step.text;
    EXPECT_LE(plan.peak(), step.measured.peak + plan.error_bytes()) << step.text;
    errors.add(step.text, step.measured, plan);
  }
  errors.print();
  EXPECT_LE(errors.median(), 5);
}

TEST(PlannedPeak, HoldsForNetworksOfTheSimulator) {
  expect_within_stated_error(kFile);
}

TEST(PlannedPeak, HoldsForNetworksMeasuredLater) {
  expect_within_stated_error("h200-networks.json");
}

}  // namespace
}  // namespace ebb::plan
