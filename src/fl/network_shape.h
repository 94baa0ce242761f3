// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "plan/network.h"

namespace ebb::fl {

/// One tensor of weights in a model, which is all of them one after the other, in PyTorch's order.
struct ParameterShape {
  enum class Kind : std::uint8_t { weight, bias, scale, shift };

  Kind kind = Kind::weight;
  std::vector<std::int64_t> dimensions;
  std::size_t offset = 0;  ///< of its first element in the model
  std::size_t elements = 0;
  std::size_t fan_in = 0;  ///< inputs of one output; decides the initial values
};

/// A layer that drops values in training, in the order in which a network runs them.
struct DropoutShape {
  double rate = 0;
  std::size_t values = 0;  ///< of one sample
};

/// Input channels of a convolution up to which clients who train side by side keep what its outputs
/// see.
inline constexpr std::uint64_t kFewInputs = 32;

/// What follows from a network's layers and the pictures it is given.
struct NetworkShape {
  std::vector<ParameterShape> parameters;
  std::vector<DropoutShape> dropouts;
  std::size_t elements = 0;  ///< of all parameters
  std::size_t largest_columns =
      0;                         ///< values, where a convolution's windows are laid out as columns
  std::size_t kept_columns = 0;  ///< of convolutions that keep them from forward for the gradient
  double macs_per_sample = 0;    ///< multiplications of a forward pass
  /// Of one training step: forward, and twice that backward; two operations a multiplication.
  double flops_per_sample() const { return 6 * macs_per_sample; }
};

/// Code::bad_input where a layer does not fit what comes into it.
base::Result<NetworkShape> shape_of(const plan::Network& network);

}  // namespace ebb::fl
