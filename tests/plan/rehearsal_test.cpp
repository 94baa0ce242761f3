// SPDX-License-Identifier: Apache-2.0
#include "plan/rehearsal.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "plan/tape_writer.h"

namespace ebb::plan {
namespace {

using base::kMiB;

// Tensors in multiples of a MiB, so that blocks have no slack.
constexpr std::uint64_t kRows = 1024;
constexpr std::uint64_t kWidth = 1024;
constexpr std::uint64_t kTensor = 4 * kRows * kWidth;

/// `depth` square linear layers without activations between them, and a loss.
Tape chain(int depth, bool checkpointed = false) {
  TapeWriter writer;
  std::vector<ValueId> weights;
  for (int i = 0; i < depth; ++i)
    weights.push_back(writer.parameter("w", ElementType::f32, kWidth, kWidth));
  const ValueId input = writer.input(kRows * kWidth, ElementType::f32);
  const ValueId targets = writer.input(kRows, ElementType::i64);
  writer.enter(Part::feed_forward);
  ValueId x = input;
  for (const ValueId weight : weights) {
    const std::uint32_t begin = writer.position();
    x = writer.linear(x, kRows, kWidth, weight);
    x = writer.tanh(x);
    if (checkpointed) writer.recompute(begin, writer.position());
  }
  writer.begin_loss();
  writer.enter(Part::logits);
  writer.cross_entropy(x, targets);
  return writer.take();
}

StepReport rehearsed(const Tape& tape, Optimizer optimizer = Optimizer::sgd,
                     StateSharding sharding = {}) {
  RehearsalOptions options;
  options.optimizer = optimizer;
  options.sharding = sharding;
  const auto report = rehearse(tape, options);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Rehearsal, KeepsWhatTheBackwardPassNeedsAndNothingElse) {
  const StepReport report = rehearsed(chain(4));
  // Each tanh's result, which is the next layer's input; the first layer's input is the caller's.
  EXPECT_EQ(report.after_forward.parts[Part::feed_forward], 4 * kTensor);
  EXPECT_EQ(report.before.parts[Part::weights], 4 * kTensor);
  EXPECT_EQ(report.before.parts[Part::gradients], 0U);
}

TEST(Rehearsal, LeavesTheStepAsItBegan) {
  for (const bool checkpointed : {false, true}) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adamw, Optimizer::adafactor}) {
      const Tape tape = chain(3, checkpointed);
      RehearsalOptions options;
      options.optimizer = optimizer;
      options.steps = 2;
      const auto second = rehearse(tape, options);
      options.steps = 5;
      const auto fifth = rehearse(tape, options);
      ASSERT_TRUE(second && fifth);
      EXPECT_EQ(second->before.parts.total(), fifth->before.parts.total());
      EXPECT_EQ(second->peak().peak.allocated, fifth->peak().peak.allocated);
    }
  }
}

TEST(Rehearsal, PartsSumToWhatIsAllocated) {
  const StepReport report = rehearsed(chain(3), Optimizer::adamw);
  for (const PhaseReport& phase : report.phases)
    EXPECT_EQ(phase.peak.parts.total(), phase.peak.allocated);
  EXPECT_EQ(report.before.parts.total(), report.before.allocated);
}

TEST(Rehearsal, GradientsOfWeightsStayUntilTheStepIsOver) {
  const StepReport report = rehearsed(chain(4));
  const PhaseReport& backward = report.of(Phase::backward);
  EXPECT_EQ(backward.end - report.before.allocated, 4 * kTensor + 512);  // and the loss
  EXPECT_EQ(report.of(Phase::optimizer).peak.parts[Part::gradients], 4 * kTensor);
}

TEST(Rehearsal, CheckpointsKeepOnlyInputsOfSegmentsAndRecomputeOneAtATime) {
  const StepReport whole = rehearsed(chain(8));
  const StepReport checkpointed = rehearsed(chain(8, true));
  EXPECT_EQ(whole.after_forward.parts[Part::feed_forward], 8 * kTensor);
  // The inputs of seven layers and the last result, which the loss keeps.
  EXPECT_LE(checkpointed.after_forward.parts[Part::feed_forward], 8 * kTensor);
  EXPECT_EQ(checkpointed.of(Phase::backward).end, whole.of(Phase::backward).end);
}

TEST(Rehearsal, AdamNeedsARootOfAllMomentsDuringItsStep) {
  const StepReport report = rehearsed(chain(4), Optimizer::adamw);
  EXPECT_EQ(report.before.parts[Part::optimizer], 2 * 4 * kTensor);
  EXPECT_EQ(report.of(Phase::optimizer).peak.parts[Part::temporaries], 4 * kTensor);
  const StepReport plain = rehearsed(chain(4), Optimizer::sgd);
  EXPECT_EQ(plain.of(Phase::optimizer).peak.parts[Part::temporaries], 0U);
}

TEST(Rehearsal, ShardingSplitsStateStageByStage) {
  const Tape tape = chain(4);
  const StepReport first = rehearsed(tape, Optimizer::adamw, {8, 1});
  EXPECT_EQ(first.before.parts[Part::optimizer], 2 * 4 * kTensor / 8);
  EXPECT_EQ(first.before.parts[Part::weights], 4 * kTensor);
  const StepReport second = rehearsed(tape, Optimizer::adamw, {8, 2});
  EXPECT_EQ(second.of(Phase::optimizer).peak.parts[Part::gradients], 4 * kTensor / 8);
  const StepReport third = rehearsed(tape, Optimizer::adamw, {8, 3});
  EXPECT_EQ(third.before.parts[Part::weights], 4 * kTensor / 8);
}

TEST(Rehearsal, SummedGradientsStayThroughTheNextForwardPass) {
  RehearsalOptions options;
  options.optimizer = Optimizer::sgd;
  options.accumulates = true;
  const auto report = rehearse(chain(4), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->before.parts[Part::gradients], 4 * kTensor);
  EXPECT_EQ(report->of(Phase::optimizer).peak.parts[Part::gradients], 4 * kTensor);
}

TEST(Rehearsal, AWeightUsedTwiceHasOneGradient) {
  TapeWriter writer;
  const ValueId weight = writer.parameter("w", ElementType::f32, kWidth, kWidth);
  const ValueId input = writer.input(kRows * kWidth, ElementType::f32);
  const ValueId targets = writer.input(kRows, ElementType::i64);
  ValueId x = writer.linear(input, kRows, kWidth, weight);
  x = writer.linear(x, kRows, kWidth, weight);
  writer.begin_loss();
  writer.cross_entropy(x, targets);
  const StepReport report = rehearsed(writer.take());
  EXPECT_EQ(report.of(Phase::optimizer).peak.parts[Part::gradients], kTensor);
}

TEST(Rehearsal, FrozenWeightsHaveNoGradientAndKeepNoInput) {
  TapeWriter writer;
  const ValueId frozen = writer.parameter("w", ElementType::f32, kWidth, kWidth, 1, false);
  const ValueId trained = writer.parameter("w", ElementType::f32, kWidth, kWidth);
  const ValueId input = writer.input(kRows * kWidth, ElementType::f32);
  const ValueId targets = writer.input(kRows, ElementType::i64);
  writer.enter(Part::feed_forward);
  ValueId x = writer.linear(input, kRows, kWidth, trained);
  x = writer.linear(x, kRows, kWidth, frozen);
  writer.begin_loss();
  writer.enter(Part::logits);
  writer.cross_entropy(x, targets);
  const StepReport report = rehearsed(writer.take());
  EXPECT_EQ(report.after_forward.parts[Part::feed_forward], 0U);
  EXPECT_EQ(report.of(Phase::optimizer).peak.parts[Part::gradients], kTensor);
}

TEST(Rehearsal, ATensorLargerThanAnyDeviceIsAnError) {
  TapeWriter writer;
  writer.parameter("w", ElementType::f32, std::uint64_t{1} << 30, std::uint64_t{1} << 29);
  const ValueId targets = writer.input(1, ElementType::i64);
  const ValueId weight = writer.parameter("v", ElementType::f32, 1, 1);
  const ValueId input = writer.input(1, ElementType::f32);
  writer.cross_entropy(writer.linear(input, 1, 1, weight), targets);
  const auto report = rehearse(writer.take(), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::Code::bad_input);
}

}  // namespace
}  // namespace ebb::plan
