// SPDX-License-Identifier: Apache-2.0
// Figures that others have published.
#include <gtest/gtest.h>

#include "plan/plan.h"
#include "plan/presets.h"
#include "plan/tape_writer.h"

namespace ebb::plan {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;

/// 7.5 billion weights in f16, trained by Adam with a copy in f32, on 64 devices.
double zero_paper_gigabytes(int stage) {
  TapeWriter writer;
  writer.parameter("weights", ElementType::f16, 7500, 1'000'000);
  const Tape tape = writer.take();
  const StateBytes bytes = state_bytes(tape, Optimizer::adam, true, {64, stage});
  return static_cast<double>(bytes.total()) / static_cast<double>(kBillion);
}

TEST(PublishedFigures, ZeroSplitsSevenAndAHalfBillionWeightsOverSixtyFourDevices) {
  EXPECT_NEAR(zero_paper_gigabytes(0), 120, 0.05);
  EXPECT_NEAR(zero_paper_gigabytes(1), 31.4, 0.05);
  EXPECT_NEAR(zero_paper_gigabytes(2), 16.6, 0.05);
  EXPECT_NEAR(zero_paper_gigabytes(3), 1.88, 0.005);
}

/// What one layer keeps for the backward pass: two layers less one.
double layer_activations(const char* name, Checkpoint checkpoint) {
  std::uint64_t bytes[2] = {};
  for (const std::uint64_t layers : {1U, 2U}) {
    TransformerModel model = *preset(name);
    model.layers = layers;
    TransformerTraining training;
    training.sequence = 2048;
    training.precision = Precision::fp16_mixed;
    training.attention = Attention::eager;
    training.dropout = 0.1;
    training.checkpoint = checkpoint;
    const auto tape = write_transformer(model, training);
    EXPECT_TRUE(tape);
    const auto report = rehearse(*tape, {});
    EXPECT_TRUE(report);
    bytes[layers - 1] = report->after_forward.parts.activations();
  }
  return static_cast<double>(bytes[1] - bytes[0]);
}

struct Recomputation {
  const char* model;
  double width;
  double heads;
  double saved_percent;
};

class SelectiveRecomputation : public testing::TestWithParam<Recomputation> {};

TEST_P(SelectiveRecomputation, SavesWhatKorthikantiAndOthersReport) {
  const auto [name, width, heads, saved_percent] = GetParam();
  const double tokens = 2048;
  const double all = layer_activations(name, Checkpoint::none);
  const double selective = layer_activations(name, Checkpoint::selective);
  // sbh (34 + 5 as / h), and sbh 34.
  EXPECT_NEAR(all / (tokens * width * (34 + 5 * heads * tokens / width)), 1, 0.001);
  EXPECT_NEAR(selective / (tokens * width * 34), 1, 0.001);
  EXPECT_NEAR(100 * (1 - selective / all), saved_percent, 0.5);
}

INSTANTIATE_TEST_SUITE_P(OfThePaper, SelectiveRecomputation,
                         testing::Values(Recomputation{"gpt-3", 12288, 96, 70},
                                         Recomputation{"mt-nlg-530b", 20480, 128, 65}));

TEST(PublishedFigures, KeysAndValuesOfOneToken) {
  const auto kibibytes = [](const char* name) {
    return preset(name)->kv_cache_bytes_per_token(ElementType::f16) / 1024;
  };
  EXPECT_EQ(kibibytes("llama-2-7b"), 512U);
  EXPECT_EQ(kibibytes("llama-3-8b"), 128U);
  EXPECT_EQ(kibibytes("llama-3-70b"), 320U);
  EXPECT_EQ(kibibytes("qwen2.5-7b"), 56U);
}

struct Size {
  const char* name;
  std::uint64_t parameters;
};

class PresetSize : public testing::TestWithParam<Size> {};

TEST_P(PresetSize, IsThePublishedOne) {
  const auto model = preset(GetParam().name);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->parameters(), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    All, PresetSize,
    testing::Values(Size{"gpt2", 124'439'808}, Size{"gpt2-medium", 354'823'168},
                    Size{"gpt2-large", 774'030'080}, Size{"gpt2-xl", 1'557'611'200},
                    Size{"llama-7b", 6'738'415'616}, Size{"llama-2-13b", 13'015'864'320},
                    Size{"llama-2-70b", 68'976'648'192}, Size{"llama-3-8b", 8'030'261'248},
                    Size{"llama-3-70b", 70'553'706'496}, Size{"llama-3.2-1b", 1'235'814'400},
                    Size{"llama-3.2-3b", 3'212'749'824}, Size{"mistral-7b", 7'241'732'096},
                    Size{"qwen2.5-7b", 7'615'616'512}));

TEST(Presets, AnUnknownOneIsNamedWithTheNearest) {
  const auto model = preset("lama-7b");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("llama-7b"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace ebb::plan
