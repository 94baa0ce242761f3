// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/element_type.h"

namespace ebb::plan {

/// A convolution of square kernels over a batch of pictures.
struct ConvolutionShape {
  std::uint64_t batch = 0;
  std::uint64_t inputs = 0, height = 0, width = 0;
  std::uint64_t outputs = 0, output_height = 0, output_width = 0;
  std::uint64_t kernel = 0;
  std::uint64_t stride = 1;
};

/// Bytes that cuDNN takes beside inputs and results while it computes a convolution, the gradient
/// of its input and the gradient of its weight. It chooses among algorithms as it runs; these are
/// its choices on Hopper as far as docs/plan.md found a rule in them.
struct ConvolutionWorkspace {
  std::uint64_t forward = 0;
  std::uint64_t input_gradient = 0;
  std::uint64_t weight_gradient = 0;
};
ConvolutionWorkspace workspace_of(const ConvolutionShape& shape, ElementType type);

}  // namespace ebb::plan
