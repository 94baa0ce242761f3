// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "fl/torch/card_kernels.h"

namespace ebb::fl {

/// Group normalisation of clients side by side, with channels last, as convolutions on a card like
/// it. `flow`: [batch, clients * channels, height, width]; `scale` and `shift`: [clients,
/// channels]; `groups` of each client. `added` is added where it is defined, and then what is
/// negative becomes 0 where it `rectifies`: in one go, since a card is busy with reading and
/// writing. `kernels` may be null; the bits are the same.
at::Tensor normalise_channels_last(const at::Tensor& flow, std::int64_t groups,
                                   const at::Tensor& scale, const at::Tensor& shift,
                                   const at::Tensor& added, bool rectifies,
                                   const CardKernels* kernels);

}  // namespace ebb::fl
