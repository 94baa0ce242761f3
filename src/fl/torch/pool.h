// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>

#include "plan/network.h"

namespace ebb::fl {

/// The largest of each `kernel` x `kernel` pixels, with its gradient: at::max_pool2d, whose general
/// loops take a third of a small network's step on the host, by loops of our own where they apply.
at::Tensor max_pool(const at::Tensor& pictures, std::int64_t kernel);
/// The same, and then what is negative becomes 0, in one pass.
at::Tensor rectified_max_pool(const at::Tensor& pictures, std::int64_t kernel);

/// The kernel of pooling, where `layers` begin with it and what makes the negative 0, in either
/// order.
std::optional<std::int64_t> rectified_pool(std::span<const plan::NetworkLayer> layers);

}  // namespace ebb::fl
