// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "fl/data/data_set.h"

namespace ebb::fl {

/// Samples of one split, as a device takes them: held there as a whole, or gathered on the host
/// batch by batch and sent while the device is busy with what came before. Thread-safe. The split
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

 private:
  const Split& split_;
  const at::Device device_;
  const bool held_;
  at::Tensor pixels_;  ///< all of them; on the host those of the split itself
  at::Tensor labels_;
};

/// Numbers on their way from the host to `device`, without waiting for it. The host's may change
/// afterwards.
at::Tensor sent(std::span<const std::uint32_t> numbers, at::Device device);
at::Tensor sent(std::span<const float> numbers, at::Device device);
at::Tensor sent(std::span<const std::int64_t> numbers, at::Device device);

}  // namespace ebb::fl
