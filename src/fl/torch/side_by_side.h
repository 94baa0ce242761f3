// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace ebb::fl {

// Layers of several clients at once, each client with weights of its own. What flows between them
// is [clients, channels, batch, height, width], as products of matrices give and take it.

/// A convolution with weights [clients, outputs, inputs, kernel, kernel] and a bias
/// [clients, outputs] that may be undefined. Pixels are laid out as columns and multiplied, one
/// matrix per client: a card is busy with that where grouped convolutions of few channels leave it
/// idle. Columns are made again for the gradient, and not kept.
at::Tensor convolve_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias, std::int64_t stride, std::int64_t padding);

/// Normalises `groups` of channels of each sample; scale and shift are [clients, channels].
at::Tensor normalise_side_by_side(const at::Tensor& flow, std::int64_t groups,
                                  const at::Tensor& scale, const at::Tensor& shift);

/// [clients, batch, features] by weights [clients, outputs, features]; the bias may be undefined.
at::Tensor multiply_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias);

/// [clients, batch, channels * height * width] of what flows between pictures' layers.
at::Tensor flattened(const at::Tensor& flow);

}  // namespace ebb::fl
