// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

namespace ebb::fl {

/// The largest of each `kernel` x `kernel` pixels, with its gradient: at::max_pool2d, whose general
/// loops take a third of a small network's step on the host, by loops of our own where they apply.
at::Tensor max_pool(const at::Tensor& pictures, std::int64_t kernel);

}  // namespace ebb::fl
