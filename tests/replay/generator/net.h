// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "replay/generator/draws.h"

namespace ebb::replay::generator {

/// One operator of a forward pass, in bytes.
struct Kernel {
  std::uint64_t output = 0;
  std::uint64_t workspace = 0;  ///< while it runs, forward and backward
  std::uint64_t beside = 0;     ///< kept beside the output for backward: statistics, a mask
  int weight = -1;              ///< of which backward makes the gradient
  bool saved = true;            ///< the output is kept for backward
  bool begins_layer = false;    ///< what checkpointing computes again begins here
};

/// A network: its parameters, and the operators that two sizes of an input make it run (batch and
/// length, batch and side, nodes and edges).
struct Net {
  std::vector<std::uint64_t> weights;
  std::function<std::vector<Kernel>(std::uint64_t, std::uint64_t)> kernels;
  /// Of an input, in bytes.
  std::function<std::uint64_t(std::uint64_t, std::uint64_t)> input;
};

/// Attention is written out, with memory quadratic in the length, or fused.
Net transformer(Draws& draws, std::uint64_t layers, std::uint64_t width, std::uint64_t vocabulary,
                bool written_out);
/// Convolutions in stages: half the side, twice the channels.
Net convolutions(Draws& draws, std::uint64_t blocks, std::uint64_t channels);
/// Linear layers of these widths.
Net perceptron(std::vector<std::uint64_t> widths);
/// Messages along edges, gathered in nodes.
Net graph_network(std::uint64_t layers, std::uint64_t width);

}  // namespace ebb::replay::generator
