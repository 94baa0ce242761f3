// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "fl/data/data_set.h"

namespace ebb::fl {

/// Samples of one split, as a device takes them: held there as a whole, or gathered on the host
/// batch by batch, when they are asked for or ahead of that (prefetch.h). Thread-safe. The split
/// outlives it.
class DeviceSplit {
 public:
  DeviceSplit(const Split& split, const plan::Picture& picture, at::Device device, bool held);

  struct Batch {
    at::Tensor pixels;  ///< bytes: [samples, channels, height, width]
    at::Tensor labels;  ///< [samples], int64
  };

  /// `samples` and the same numbers on the device, `there`: int32, which only a split looks at that
  /// is held.
  Batch take(std::span<const std::uint32_t> samples, const at::Tensor& there) const;

  bool held() const { return held_; }
  at::Device device() const { return device_; }
  /// What so many samples take, labels and all.
  std::size_t bytes_of(std::size_t samples) const { return samples * (bytes_each_ + 1); }
  /// Writes them, on the host, as batch_in reads them.
  void gather(std::span<const std::uint32_t> samples, std::uint8_t* into) const;
  /// The pixels are those in `bytes`, not copied.
  Batch batch_in(const at::Tensor& bytes, std::size_t samples) const;

 private:
  const Split& split_;
  const at::Device device_;
  const bool held_;
  const std::size_t bytes_each_;
  at::Tensor pixels_;  ///< all of them; on the host those of the split itself
  at::Tensor labels_;
};

/// Memory of the host that `device` reads by itself.
at::Tensor staging(at::IntArrayRef sizes, at::ScalarType type, at::Device device);

/// Numbers on their way from the host to `device`, without waiting for it. The host's may change
/// afterwards.
at::Tensor sent(std::span<const std::uint32_t> numbers, at::Device device);
at::Tensor sent(std::span<const float> numbers, at::Device device);
at::Tensor sent(std::span<const std::int64_t> numbers, at::Device device);

}  // namespace ebb::fl
