// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "fl/torch/card_kernels.h"

namespace ebb::fl {

struct ProductOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  double lr = 0;               ///< as with Layers
  bool keeps_windows = false;  ///< for the gradient; else they are laid out anew for it
};

/// A convolution of clients side by side, with channels last, as products of matrices, one for each
/// client. `flow`: [batch, clients * channels, height, width]; `weight`: [clients, outputs,
/// channels, kernel, kernel], best with channels last. `kernels` may be null; the bits are the
/// same.
at::Tensor convolve_by_products(const at::Tensor& flow, const at::Tensor& weight,
                                const ProductOptions& options, const CardKernels* kernels);

}  // namespace ebb::fl
