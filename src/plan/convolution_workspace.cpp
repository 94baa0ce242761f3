// SPDX-License-Identifier: Apache-2.0
#include "plan/convolution_workspace.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace ebb::plan {
namespace {

/// Pictures of fewer channels go through kernels that take them as they are.
constexpr std::uint64_t kFewChannels = 8;

std::uint64_t padded_side(const ConvolutionShape& shape) {
  return std::max(shape.output_height, shape.output_width) * shape.stride + shape.kernel - 1;
}

/// Tensor cores want channels last, in units of 16 bytes: input, result and weight are copied.
std::uint64_t copies(const ConvolutionShape& shape, ElementType type) {
  const std::uint64_t unit = 16 / bytes_of(type);
  const std::uint64_t inputs = base::round_up(shape.inputs, unit),
                      outputs = base::round_up(shape.outputs, unit);
  const std::uint64_t elements = shape.batch * inputs * shape.height * shape.width +
                                 shape.batch * outputs * shape.output_height * shape.output_width +
                                 inputs * outputs * shape.kernel * shape.kernel;
  return elements * bytes_of(type);
}

/// Kernels of 5 and more over pictures that fit into a tile may be computed between Fourier
/// transforms.
bool may_be_transformed(const ConvolutionShape& shape, ElementType type) {
  return type == ElementType::f32 && shape.kernel >= 5 && shape.stride == 1 &&
         padded_side(shape) <= 32 && std::min(shape.inputs, shape.outputs) >= 32;
}

/// Of the transform of a tile: half of the complex numbers say it all.
std::uint64_t transform_bytes(std::uint64_t side) {
  return side * (side / 2 + 1) * 2 * bytes_of(ElementType::f32);
}

/// All at once, where channels and batch are large enough to pay for it.
std::optional<std::uint64_t> input_gradient_transforms(const ConvolutionShape& shape) {
  const std::uint64_t channels = std::min(shape.inputs, shape.outputs);
  if (shape.batch * channels * channels < std::uint64_t{1} << 20) return std::nullopt;
  const std::uint64_t tiles =
      shape.batch * (shape.inputs + shape.outputs) + shape.inputs * shape.outputs;
  return tiles * transform_bytes(32);
}

/// Once as they are computed and once in the order in which they are multiplied, for pictures or
/// weights, whichever take more, beside a copy of the result's gradient; until what is summed over
/// is long enough for tensor cores.
std::optional<std::uint64_t> weight_gradient_transforms(const ConvolutionShape& shape) {
  const std::uint64_t pixels = shape.output_height * shape.output_width;
  if (shape.batch * pixels > std::uint64_t{1} << 15) return std::nullopt;
  const std::uint64_t tiles =
      std::max(shape.batch * (shape.inputs + shape.outputs), shape.inputs * shape.outputs);
  return 2 * tiles * transform_bytes(padded_side(shape) <= 16 ? 16 : 32) +
         shape.batch * shape.outputs * pixels * bytes_of(ElementType::f32);
}

}  // namespace

ConvolutionWorkspace workspace_of(const ConvolutionShape& shape, ElementType type) {
  const std::uint64_t copied = copies(shape, type);
  ConvolutionWorkspace workspace{copied, copied, copied};
  if (type == ElementType::f32 && shape.kernel == 1) {
    workspace.forward = workspace.input_gradient = 0;
  } else if (may_be_transformed(shape, type)) {
    workspace.input_gradient = input_gradient_transforms(shape).value_or(copied);
    workspace.weight_gradient = weight_gradient_transforms(shape).value_or(copied);
  }
  if (shape.inputs < kFewChannels) {
    workspace.forward = 0;
    if (type == ElementType::f32) workspace.input_gradient = workspace.weight_gradient = 0;
  }
  return workspace;
}

}  // namespace ebb::plan
