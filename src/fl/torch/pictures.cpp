// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pictures.h"

namespace ebb::fl {
namespace {

/// Pixels that a crop may be off by.
constexpr std::int64_t kPadding = 4;

at::Tensor per_channel(const std::vector<float>& values, at::Device device) {
  return at::tensor(at::ArrayRef<float>(values)).view({1, -1, 1, 1}).to(device);
}

at::Tensor moved(const at::Tensor& pixels, const at::Tensor& moves) {
  const std::int64_t count = pixels.size(0);
  const std::int64_t height = pixels.size(2);
  const std::int64_t width = pixels.size(3);
  const auto options = moves.options();
  const at::Tensor columns = at::arange(width, options).unsqueeze(0);
  const at::Tensor flips = moves.select(1, 2).unsqueeze(1);
  const at::Tensor from_y =
      at::arange(height, options).unsqueeze(0) + moves.select(1, 0).unsqueeze(1);
  const at::Tensor from_x =
      columns + flips * (width - 1 - 2 * columns) + moves.select(1, 1).unsqueeze(1);
  const at::Tensor inside_y = from_y.ge(0).logical_and(from_y.lt(height));
  const at::Tensor inside_x = from_x.ge(0).logical_and(from_x.lt(width));
  const at::Tensor at_pixel =
      from_y.clamp(0, height - 1).unsqueeze(2) * width + from_x.clamp(0, width - 1).unsqueeze(1);
  const at::Tensor inside = inside_y.unsqueeze(2).logical_and(inside_x.unsqueeze(1));
  return pixels.flatten(2)
      .gather(2, at_pixel.view({count, 1, -1}).expand({-1, pixels.size(1), -1}))
      .view_as(pixels)
      .mul_(inside.unsqueeze(1));
}

}  // namespace

Move Move::draw(Random& random) {
  Move move;
  move.down = static_cast<std::int64_t>(random.below(2 * kPadding + 1)) - kPadding;
  move.right = static_cast<std::int64_t>(random.below(2 * kPadding + 1)) - kPadding;
  move.flips = random.below(2) == 1;
  return move;
}

void Move::write(std::int64_t* into) const {
  *into++ = down;
  *into++ = right;
  *into = flips ? 1 : 0;
}

Pictures::Pictures(const DataSet& data, at::Device device)
    : data_(data), floats_each_(data.picture.channels * data.picture.height * data.picture.width) {
  for (std::size_t channel = 0; channel < data.picture.channels; ++channel) {
    std::array<float, 256>& values = values_.emplace_back();
    for (std::size_t byte = 0; byte < values.size(); ++byte)
      values[byte] = (static_cast<float>(byte) / 255.0F - data.normalisation.mean[channel]) /
                     data.normalisation.deviation[channel];
  }
  mean_ = per_channel(data.normalisation.mean, device);
  deviation_ = per_channel(data.normalisation.deviation, device);
}

void Pictures::place(const std::uint8_t* pixels, float* into) const {
  const std::size_t plane = floats_each_ / values_.size();
  for (const std::array<float, 256>& values : values_) {
    for (std::size_t i = 0; i < plane; ++i)
      into[i] = values[pixels[i]];
    pixels += plane;
    into += plane;
  }
}

void Pictures::fill(const Split& split, std::span<const std::uint32_t> samples, float* into) const {
  for (const std::uint32_t sample : samples) {
    place(split.pixels.data() + sample * floats_each_, into);
    into += floats_each_;
  }
}

void Pictures::fill_augmented(std::span<const std::uint32_t> samples, Random& random,
                              float* into) const {
  if (!data_.augments) return fill(data_.train, samples, into);
  const auto height = static_cast<std::int64_t>(data_.picture.height);
  const auto width = static_cast<std::int64_t>(data_.picture.width);
  for (const std::uint32_t sample : samples) {
    const std::uint8_t* pixels = data_.train.pixels.data() + sample * floats_each_;
    const Move move = Move::draw(random);
    for (const std::array<float, 256>& values : values_) {
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          const std::int64_t from_y = y + move.down;
          const std::int64_t from_x = (move.flips ? width - 1 - x : x) + move.right;
          const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
          *into++ = values[inside ? pixels[from_y * width + from_x] : 0];
        }
      }
      pixels += height * width;
    }
  }
}

at::Tensor Pictures::normalised(const at::Tensor& pixels, const at::Tensor& moves) const {
  const at::Tensor placed = moves.defined() ? moved(pixels, moves) : pixels;
  return placed.div(255).sub_(mean_).div_(deviation_);
}

}  // namespace ebb::fl
