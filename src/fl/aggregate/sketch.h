// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace ebb::fl {

/// A count sketch (Charikar et al. 2002) of `to - from`, of kSketchLength numbers: inner products
/// of sketches are, in expectation, those of what was sketched. The same projection always.
std::vector<float> sketch_of(std::span<const float> from, std::span<const float> to);

/// Euclidean norm of `to - from`, summed in a fixed order.
double distance(std::span<const float> from, std::span<const float> to);

}  // namespace ebb::fl
