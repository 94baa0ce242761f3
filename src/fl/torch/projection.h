// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace ebb::fl {

/// Parameters that are projected at a time.
inline constexpr std::int64_t kProjectedAtATime = 1 << 15;

/// The projection that sketch_of makes, of parameters `first` to `first + count`, as a matrix on
/// the device: [count, kSketchLength] in double, one number of each row 1 or -1, the others 0.
at::Tensor projection(std::int64_t first, std::int64_t count, at::Device device);

}  // namespace ebb::fl
