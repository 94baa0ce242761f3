// SPDX-License-Identifier: Apache-2.0
#include "plan/convolution_workspace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"

namespace ebb::plan {
namespace {

/// 64 channels to 64 under kernels of 5, from pictures of 14 to 10: LightCNN's second one.
ConvolutionShape light_cnn(std::uint64_t batch) {
  return {batch, 64, 14, 14, 64, 10, 10, 5, 1};
}

TEST(ConvolutionWorkspace, IsACopyOfEachTensorWithItsChannelsLast) {
  const std::uint64_t copies = 32 * (64 * 14 * 14 + 64 * 10 * 10) + 64 * 64 * 25;
  EXPECT_EQ(workspace_of(light_cnn(32), ElementType::bf16).weight_gradient, 2 * copies);
  EXPECT_EQ(workspace_of(light_cnn(32), ElementType::f32).forward, 4 * copies);
}

TEST(ConvolutionWorkspace, HoldsTransformsOfAllPicturesInALargeBatch) {
  const std::uint64_t tiles = 512 * 128 + 64 * 64;
  EXPECT_EQ(workspace_of(light_cnn(512), ElementType::f32).input_gradient, tiles * 32 * 17 * 8);
}

TEST(ConvolutionWorkspace, IsNothingForPicturesOfFewChannels) {
  const ConvolutionShape first{512, 3, 32, 32, 64, 28, 28, 5, 1};
  EXPECT_EQ(workspace_of(first, ElementType::f32).forward, 0U);
  EXPECT_EQ(workspace_of(first, ElementType::f32).weight_gradient, 0U);
}

/// How many of the measured workspaces are within 10 % or 4 MiB.
class Explained {
 public:
  void add(std::uint64_t expected, std::uint64_t measured) {
    const double difference =
        std::abs(static_cast<double>(expected) - static_cast<double>(measured));
    ++all_;
    if (difference <= std::max(4.0 * base::kMiB, 0.1 * static_cast<double>(measured))) ++near_;
  }
  double percent() const { return 100.0 * near_ / all_; }

 private:
  int near_ = 0, all_ = 0;
};

TEST(ConvolutionWorkspace, ExplainsMostOfWhatCudnnTook) {
  const auto text = base::read_file(std::string(EBB_TEST_DATA) + "/plan/h200-convolutions.json");
  ASSERT_TRUE(text);
  const auto json = base::parse_json(*text);
  ASSERT_TRUE(json);
  Explained f32, bf16;
  for (const base::Json& row : *json->find("rows")->as_array()) {
    const auto number = [&](const char* key) { return *row.find(key)->as_unsigned(); };
    const base::Json::Array& sizes = *row.find("shape")->as_array();
    const auto size = [&](std::size_t i) { return *sizes[i].as_unsigned(); };
    const std::uint64_t side = (size(2) + 2 * size(5) - size(3)) / size(4) + 1;
    const ConvolutionShape shape{number("batch"), size(0), size(2), size(2), size(1), side, side,
                                 size(3),         size(4)};
    const bool single = *row.find("kind")->as_string() == "float32";
    const ConvolutionWorkspace workspace =
        workspace_of(shape, single ? ElementType::f32 : ElementType::bf16);
    Explained& explained = single ? f32 : bf16;
    explained.add(workspace.forward, number("forward"));
    explained.add(workspace.input_gradient, number("input"));
    explained.add(workspace.weight_gradient, number("weight"));
  }
  std::printf("within 10 %% or 4 MiB: f32 %.1f %%, bf16 %.1f %%\n", f32.percent(), bf16.percent());
  EXPECT_GT(f32.percent(), 80);
  EXPECT_GT(bf16.percent(), 90);
}

}  // namespace
}  // namespace ebb::plan
