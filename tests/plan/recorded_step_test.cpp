// SPDX-License-Identifier: Apache-2.0
#include "plan/recorded_step.h"

#include <gtest/gtest.h>

#include "cache/snapshot_pickle.h"
#include "plan/plan.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

std::string data(const std::string& name) {
  return std::string(EBB_TEST_DATA) + "/" + name;
}

NetworkRequest light_cnn() {
  NetworkRequest request;
  request.network = *network_named("LightCNN", {3, 32, 32}, 10);
  request.batch = 512;
  return request;
}

TransformerRequest small_gpt2() {
  TransformerRequest request;
  request.model = *preset("gpt2");
  request.model.layers = 3;
  request.training.batch = 2;
  request.training.sequence = 256;
  return request;
}

/// A history of rehearsed steps, as PyTorch would write it down.
base::Result<trace::Snapshot> rehearsed(const TransformerRequest& request, int steps,
                                        std::uint64_t beside) {
  auto memory = StepMemory::create();
  EXPECT_TRUE(memory);
  (*memory)->allocator().record_history({});
  (*memory)->take(beside, Part::weights);
  const auto tape = write_transformer(*request.model.completed(), request.training);
  RehearsalOptions options;
  options.optimizer = request.optimizer;
  options.steps = steps;
  EXPECT_TRUE(rehearse(*tape, options, **memory));
  cache::Snapshot snapshot;
  add_device(snapshot, (*memory)->allocator());
  return trace::parse_snapshot(cache::pickle_of(snapshot), "rehearsed");
}

TEST(RecordedStep, OfARehearsalIsWhatWasPlanned) {
  TransformerRequest request = small_gpt2();
  request.surroundings.workspaces = 0;
  const Plan planned = *plan(request);
  const auto snapshot = rehearsed(request, 6, 0);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const auto recorded = recorded_step(*snapshot, "rehearsed");
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_GE(recorded->steps, 3U);
  const Correction correction = correction_of(planned, *recorded);
  EXPECT_NEAR(correction.percent(), 0, 0.2);
  EXPECT_NEAR(correction.scale, 1, 0.005);
}

TEST(RecordedStep, ShowsWhatTheJobKeepsBesideItsStep) {
  constexpr std::uint64_t kBeside = 300 * base::kMiB;
  TransformerRequest request = small_gpt2();
  request.surroundings.workspaces = 0;
  const auto snapshot = rehearsed(request, 6, kBeside);
  ASSERT_TRUE(snapshot);
  const auto recorded = recorded_step(*snapshot, "rehearsed");
  ASSERT_TRUE(recorded) << recorded.error().message;
  request.correction = correction_of(*plan(request), *recorded);
  EXPECT_NEAR(static_cast<double>(request.correction->beside), static_cast<double>(kBeside),
              4.0 * base::kMiB);
  const Plan corrected = *plan(request);
  EXPECT_EQ(corrected.peak(), recorded->peak);
  request.training.batch *= 2;
  const Plan larger = *plan(request);
  request.correction.reset();
  const double more = static_cast<double>(larger.peak() - plan(request)->peak());
  EXPECT_NEAR(more, static_cast<double>(kBeside), 8.0 * base::kMiB)
      << "what lies beside a step does not grow with its batch";
}

TEST(RecordedStep, OfRealTrainingIsWhatPyTorchCounted) {
  const auto gpt2 = read_recorded_step(data("plan/h200-gpt2-fp32.pickle.gz"));
  ASSERT_TRUE(gpt2) << gpt2.error().message;
  // max_memory_allocated of that step beyond what the libraries held, and what they held.
  EXPECT_EQ(gpt2->peak, 5365964800U + 68157440U);
  EXPECT_EQ(gpt2->before, 1499946496U + 68157440U);
  const auto network = read_recorded_step(data("plan/h200-lightcnn-fp32.pickle.gz"));
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->peak, 533790720U + 68157440U);
  EXPECT_EQ(network->before, 8375808U + 68157440U);
}

TEST(RecordedStep, CorrectsThePlanOfTheSameStepToWhatWasMeasured) {
  const auto recorded = read_recorded_step(data("plan/h200-lightcnn-fp32.pickle.gz"));
  ASSERT_TRUE(recorded);
  NetworkRequest request = light_cnn();
  const Plan planned = *plan(request);
  request.correction = correction_of(planned, *recorded);
  const Plan corrected = *plan(request);
  EXPECT_EQ(corrected.peak(), recorded->peak);
  EXPECT_EQ(corrected.surroundings.workspaces, 0U) << "they are in the recording";
  EXPECT_LT(corrected.error_percent, planned.error_percent);
  EXPECT_NEAR(corrected.correction->percent(), 0, 1);
  request.batch = 256;
  EXPECT_EQ(plan(request)->error_percent, planned.error_percent) << "not what was recorded";
  const base::Json json = to_json(corrected);
  EXPECT_EQ(json.find("measured_peak_bytes")->as_unsigned(), recorded->peak);
  EXPECT_EQ(json.find("peak_bytes")->as_unsigned(), recorded->peak);
  EXPECT_NE(json.find("correction_percent"), nullptr);
}

TEST(RecordedStep, NeedsAHistoryWithSteps) {
  for (const char* name : {"torch-2.11/vectors/ctx.pickle", "plan/h200-own.json", "plan/none"}) {
    const auto recorded = read_recorded_step(data(name));
    ASSERT_FALSE(recorded) << name;
    EXPECT_EQ(recorded.error().message.find('\n'), std::string::npos);
  }
  const auto snapshot = rehearsed(small_gpt2(), 1, 0);
  ASSERT_TRUE(snapshot);
  const auto once = recorded_step(*snapshot, "once");
  ASSERT_FALSE(once);
  EXPECT_EQ(once.error().code, base::Code::bad_input);
  EXPECT_NE(once.error().message.find("at least three steps"), std::string::npos);
}

}  // namespace
}  // namespace ebb::plan
