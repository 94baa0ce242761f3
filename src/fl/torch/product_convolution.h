// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "fl/torch/card_kernels.h"

namespace ebb::fl {

/// A convolution of clients side by side, with channels last, as products of matrices, one for each
/// client. `flow`: [batch, clients * channels, height, width]; `weight`: [clients, outputs,
/// channels, kernel, kernel], best with channels last. What each output sees is laid out anew for
/// the gradient, and not kept. `lr` as with Layers. `kernels` may be null; the bits are the same.
at::Tensor convolve_by_products(const at::Tensor& flow, const at::Tensor& weight,
                                std::int64_t stride, std::int64_t padding, double lr,
                                const CardKernels* kernels);

}  // namespace ebb::fl
