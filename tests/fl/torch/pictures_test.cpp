// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pictures.h"

#include <cstdlib>

namespace ebb::fl {
namespace {

constexpr std::uint32_t kSide = 12;
constexpr std::uint32_t kPixels = kSide * kSide;

/// One picture without equal neighbours, in two channels of different normalisation.
DataSet one_picture() {
  DataSet data;
  data.picture = {2, kSide, kSide};
  data.classes = 2;
  data.normalisation = {{0.5F, 0.25F}, {0.5F, 0.125F}};
  data.augments = true;
  for (std::uint32_t i = 0; i < 2 * kPixels; ++i)
    data.train.pixels.push_back(static_cast<std::uint8_t>(1 + i * 7 % 255));
  data.train.labels = {1};
  return data;
}

float normalised(const DataSet& data, std::size_t channel, std::uint8_t byte) {
  return (static_cast<float>(byte) / 255.0F - data.normalisation.mean[channel]) /
         data.normalisation.deviation[channel];
}

at::Tensor bytes_of(const DataSet& data) {
  const auto side = static_cast<std::int64_t>(kSide);
  return at::from_blob(const_cast<std::uint8_t*>(data.train.pixels.data()), {1, 2, side, side},
                       at::kByte);
}

TEST(Pictures, AreNormalisedChannelByChannel) {
  const DataSet data = one_picture();
  const Pictures pictures(data, at::kCPU);
  std::vector<float> filled(pictures.floats_each());
  const std::vector<std::uint32_t> samples = {0};
  pictures.fill(data.train, samples, filled.data());
  for (std::size_t i = 0; i < filled.size(); ++i)
    EXPECT_FLOAT_EQ(filled[i], normalised(data, i / kPixels, data.train.pixels[i]));
  const at::Tensor there = pictures.normalised(bytes_of(data), at::Tensor());
  EXPECT_TRUE(there.flatten().allclose(at::tensor(filled), 1e-5, 1e-6));
}

TEST(Pictures, AreMovedByUpToFourPixelsAndMirroredForTraining) {
  const DataSet data = one_picture();
  const Pictures pictures(data, at::kCPU);
  const std::vector<std::uint32_t> samples = {0};
  std::array<int, 9> down{};
  std::array<int, 9> right{};
  int flips = 0;
  for (std::uint32_t round = 0; round < 200; ++round) {
    Random random(1, Purpose::augmentation, round);
    Random again(1, Purpose::augmentation, round);
    const Move move = Move::draw(again);
    std::vector<std::int64_t> numbers(kMoveNumbers);
    move.write(numbers.data());
    ASSERT_TRUE(std::abs(move.down) <= 4 && std::abs(move.right) <= 4);
    ++down[static_cast<std::size_t>(move.down + 4)];
    ++right[static_cast<std::size_t>(move.right + 4)];
    flips += move.flips ? 1 : 0;
    std::vector<float> filled(pictures.floats_each());
    pictures.fill_augmented(samples, random, filled.data());
    const auto side = static_cast<std::int64_t>(kSide);
    for (std::int64_t i = 0; i < 2 * side * side; ++i) {
      const std::int64_t channel = i / (side * side);
      const std::int64_t y = i / side % side + move.down;
      const std::int64_t x = (move.flips ? side - 1 - i % side : i % side) + move.right;
      const bool inside = y >= 0 && y < side && x >= 0 && x < side;
      const auto from = static_cast<std::size_t>(channel * side * side + y * side + x);
      ASSERT_FLOAT_EQ(filled[static_cast<std::size_t>(i)],
                      normalised(data, static_cast<std::size_t>(channel),
                                 inside ? data.train.pixels[from] : 0));
    }
    const at::Tensor there = pictures.normalised(
        bytes_of(data), at::from_blob(numbers.data(), {1, kMoveNumbers}, at::kLong));
    ASSERT_TRUE(there.flatten().allclose(at::tensor(filled), 1e-5, 1e-6)) << round;
  }
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_TRUE(down[i] > 0 && right[i] > 0) << i;
  EXPECT_TRUE(flips > 60 && flips < 140) << flips;
}

}  // namespace
}  // namespace ebb::fl
