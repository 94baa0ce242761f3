// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/device_split.h"

#include <cstring>

namespace ebb::fl {
namespace {

/// Memory of the host that a card reads by itself.
at::Tensor staging(at::IntArrayRef sizes, at::ScalarType type, at::Device device) {
  return at::empty(sizes, at::TensorOptions().dtype(type).pinned_memory(device.is_cuda()));
}

at::Tensor sent_bytes(const void* numbers, std::size_t count, at::ScalarType type,
                      at::Device device) {
  const at::Tensor way = staging({static_cast<std::int64_t>(count)}, type, device);
  if (count > 0) std::memcpy(way.data_ptr(), numbers, way.nbytes());
  return way.to(device, /*non_blocking=*/true);
}

at::Tensor of_bytes(const std::vector<std::uint8_t>& bytes, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<std::uint8_t*>(bytes.data()), sizes, at::kByte);
}

}  // namespace

at::Tensor sent(std::span<const std::uint32_t> numbers, at::Device device) {
  return sent_bytes(numbers.data(), numbers.size(), at::kInt, device);
}

at::Tensor sent(std::span<const float> numbers, at::Device device) {
  return sent_bytes(numbers.data(), numbers.size(), at::kFloat, device);
}

at::Tensor sent(std::span<const std::int64_t> numbers, at::Device device) {
  return sent_bytes(numbers.data(), numbers.size(), at::kLong, device);
}

DeviceSplit::DeviceSplit(const Split& split, const plan::Picture& picture, at::Device device,
                         bool held)
    : split_(split), device_(device), held_(held) {
  const auto count = static_cast<std::int64_t>(split.size());
  pixels_ = of_bytes(split.pixels, {count, static_cast<std::int64_t>(picture.channels),
                                    static_cast<std::int64_t>(picture.height),
                                    static_cast<std::int64_t>(picture.width)});
  labels_ = of_bytes(split.labels, {count});
  if (!held) return;
  pixels_ = pixels_.to(device);
  labels_ = labels_.to(device);
}

DeviceSplit::Batch DeviceSplit::take(std::span<const std::uint32_t> samples,
                                     const at::Tensor& there) const {
  if (held_) return {pixels_.index_select(0, there), labels_.index_select(0, there).to(at::kLong)};
  std::vector<std::int64_t> sizes = pixels_.sizes().vec();
  sizes.front() = static_cast<std::int64_t>(samples.size());
  const at::Tensor pixels = staging(sizes, at::kByte, device_);
  const at::Tensor labels = staging({sizes.front()}, at::kByte, device_);
  const std::size_t each = static_cast<std::size_t>(pixels_.stride(0));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::memcpy(pixels.data_ptr<std::uint8_t>() + i * each,
                split_.pixels.data() + samples[i] * each, each);
    labels.data_ptr<std::uint8_t>()[i] = split_.labels[samples[i]];
  }
  return {pixels.to(device_, true), labels.to(device_, true).to(at::kLong)};
}

}  // namespace ebb::fl
