// SPDX-License-Identifier: Apache-2.0
#include "plan/convolution_workspace.h"

#include <algorithm>

namespace ebb::plan {
namespace {

/// Pictures of fewer channels go through kernels that take them as they are.
constexpr std::uint64_t kFewChannels = 8;

constexpr std::uint64_t up_to(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Tensor cores want channels last, in units of 16 bytes: input, result and weight are copied.
std::uint64_t copies(const ConvolutionShape& shape, ElementType type) {
  const std::uint64_t unit = 16 / bytes_of(type);
  const std::uint64_t inputs = up_to(shape.inputs, unit), outputs = up_to(shape.outputs, unit);
  const std::uint64_t elements = shape.batch * inputs * shape.height * shape.width +
                                 shape.batch * outputs * shape.output_height * shape.output_width +
                                 inputs * outputs * shape.kernel * shape.kernel;
  return elements * bytes_of(type);
}

/// Large batches of many channels under kernels of 5 and more: the product is computed between
/// Fourier transforms over tiles of 32 by 32, of which 32 by 17 complex numbers are kept.
bool is_transformed(const ConvolutionShape& shape, ElementType type) {
  const std::uint64_t channels = std::min(shape.inputs, shape.outputs);
  return type == ElementType::f32 && shape.kernel >= 5 && shape.stride == 1 && shape.height <= 32 &&
         shape.width <= 32 && shape.batch * channels * channels >= std::uint64_t{1} << 20;
}

std::uint64_t transforms(const ConvolutionShape& shape) {
  const std::uint64_t pictures =
      shape.batch * (shape.inputs + shape.outputs) + shape.inputs * shape.outputs;
  return pictures * 32 * 17 * 8;
}

}  // namespace

ConvolutionWorkspace workspace_of(const ConvolutionShape& shape, ElementType type) {
  const std::uint64_t copied = copies(shape, type);
  ConvolutionWorkspace workspace{copied, copied, copied};
  if (type == ElementType::f32 && shape.kernel == 1) {
    workspace.forward = workspace.input_gradient = 0;
  } else if (is_transformed(shape, type)) {
    workspace.input_gradient = transforms(shape);
  }
  if (shape.inputs < kFewChannels) {
    workspace.forward = 0;
    if (type == ElementType::f32) workspace.input_gradient = workspace.weight_gradient = 0;
  }
  return workspace;
}

}  // namespace ebb::plan
