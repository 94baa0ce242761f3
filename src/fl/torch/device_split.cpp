// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/device_split.h"

#include <cstring>

namespace ebb::fl {
namespace {

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

at::Tensor staging(at::IntArrayRef sizes, at::ScalarType type, at::Device device) {
  return at::empty(sizes, at::TensorOptions().dtype(type).pinned_memory(device.is_cuda()));
}

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
    : split_(split),
      device_(device),
      held_(held),
      bytes_each_(picture.channels * picture.height * picture.width) {
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
  const at::Tensor bytes =
      staging({static_cast<std::int64_t>(bytes_of(samples.size()))}, at::kByte, device_);
  gather(samples, bytes.data_ptr<std::uint8_t>());
  return batch_in(bytes.to(device_, /*non_blocking=*/true), samples.size());
}

void DeviceSplit::gather(std::span<const std::uint32_t> samples, std::uint8_t* into) const {
  std::uint8_t* labels = into + samples.size() * bytes_each_;
  for (const std::uint32_t sample : samples) {
    std::memcpy(into, split_.pixels.data() + sample * bytes_each_, bytes_each_);
    into += bytes_each_;
    *labels++ = split_.labels[sample];
  }
}

DeviceSplit::Batch DeviceSplit::batch_in(const at::Tensor& bytes, std::size_t samples) const {
  const auto count = static_cast<std::int64_t>(samples);
  const auto of_pixels = static_cast<std::int64_t>(samples * bytes_each_);
  std::vector<std::int64_t> sizes = pixels_.sizes().vec();
  sizes.front() = count;
  return {bytes.narrow(0, 0, of_pixels).view(sizes),
          bytes.narrow(0, of_pixels, count).to(at::kLong)};
}

}  // namespace ebb::fl
