// SPDX-License-Identifier: Apache-2.0
// Predictions against steps measured on an H200 with PyTorch 2.11 and transformers 5.17.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/bytes.h"
#include "plan/measured.h"
#include "term/table.h"

namespace ebb::plan {
namespace {

double off_by(std::uint64_t predicted, std::uint64_t measured) {
  return 100.0 * (static_cast<double>(predicted) / static_cast<double>(measured) - 1);
}

std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.3f %%", value);
  return text;
}

StepReport planned(const MeasuredStep& step) {
  const auto tape = write_transformer(step.model, step.training);
  EXPECT_TRUE(tape) << (tape ? "" : tape.error().message);
  RehearsalOptions options;
  options.optimizer = step.optimizer;
  if (step.warms_libraries) options.workspaces = {32 * base::kMiB, 32 * base::kMiB};
  const auto report = rehearse(*tape, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return *report;
}

class PeakErrors {
 public:
  PeakErrors()
      : table_({{"step", term::Align::left},
                {"weights"},
                {"before"},
                {"after forward"},
                {"after backward"},
                {"peak"},
                {"measured peak"},
                {"reserved"}}) {}

  void add(const MeasuredStep& step, const StepReport& report) {
    const std::uint64_t peak = report.peak().peak.allocated;
    errors_.push_back(std::abs(off_by(peak, step.peak)));
    table_.add_row({step.text, percent(off_by(report.weights_blocks, step.weights)),
                    percent(off_by(report.before.allocated, step.before)),
                    percent(off_by(report.after_forward.allocated, step.after_forward)),
                    percent(off_by(report.of(Phase::backward).end, step.after_backward)),
                    percent(off_by(peak, step.peak)), base::bytes_text(step.peak),
                    percent(off_by(report.peak_reserved, step.reserved_peak))});
  }

  void print() const { std::printf("%s\n", table_.text().c_str()); }

  double worst() const { return *std::max_element(errors_.begin(), errors_.end()); }
  double median() const {
    std::vector<double> sorted = errors_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  term::Table table_;
  std::vector<double> errors_;
};

TEST(PlannedPeak, IsWhatWasMeasured) {
  std::vector<MeasuredStep> steps = measured_steps("h200-torch-2.11.json");
  ASSERT_EQ(steps.size(), 10U);
  steps.front().warms_libraries = true;
  PeakErrors errors;
  for (const MeasuredStep& step : steps) {
    const StepReport report = planned(step);
    errors.add(step, report);
    EXPECT_EQ(step.model.parameters(), step.parameters) << step.text;
    EXPECT_LT(std::abs(off_by(report.weights_blocks, step.weights)), 1) << step.text;
  }
  errors.print();
  EXPECT_LT(errors.median(), 0.5);
  EXPECT_LT(errors.worst(), 2);
}

}  // namespace
}  // namespace ebb::plan
