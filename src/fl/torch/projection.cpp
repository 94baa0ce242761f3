// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/projection.h"

#include "fl/select/selector.h"

namespace ebb::fl {
namespace {

constexpr std::int64_t kAllBits = 0xffffffff;

/// What is left of 32 bits when they are shifted and mixed in.
at::Tensor folded(const at::Tensor& bits, std::int64_t by) {
  return bits.bitwise_xor(at::bitwise_right_shift(bits, by));
}

at::Tensor multiplied(const at::Tensor& bits, std::int64_t factor) {
  return bits.mul(factor).bitwise_and_(kAllBits);
}

}  // namespace

at::Tensor projection(std::int64_t first, std::int64_t count, at::Device device) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  // As aggregate/sketch.cpp mixes the number of a parameter.
  at::Tensor hash = at::arange(first, first + count, options).bitwise_and_(kAllBits);
  hash = folded(multiplied(folded(multiplied(folded(hash, 16), 0x7feb352d), 15), 0x846ca68b), 16);
  const auto length = static_cast<std::int64_t>(kSketchLength);
  const at::Tensor sign = hash.ge(std::int64_t{1} << 31).to(at::kDouble).mul_(2).sub_(1);
  return at::zeros({count, length}, options.dtype(at::kDouble))
      .scatter_(1, hash.remainder(length).unsqueeze(1), sign.unsqueeze(1));
}

}  // namespace ebb::fl
