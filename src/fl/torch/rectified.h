// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "fl/torch/card_kernels.h"

namespace ebb::fl {

/// What follows a convolution of clients side by side, [batch, clients * channels, height, width]
/// with channels last, in one pass: a `bias` [clients, channels] is added, and what is negative
/// becomes 0. `kernels` may be null; the bits are the same.
at::Tensor rectified(const at::Tensor& flow, const at::Tensor& bias, const CardKernels* kernels);

/// The same; then the largest of every 2 x 2 pixels; and of those `scale` times what `mask` keeps,
/// [clients, batch, channels * rows * columns] as the result, where it is defined. One byte a value
/// is kept for the gradient.
at::Tensor rectified_and_pooled(const at::Tensor& flow, const at::Tensor& bias,
                                const at::Tensor& mask, double scale, const CardKernels* kernels);

}  // namespace ebb::fl
